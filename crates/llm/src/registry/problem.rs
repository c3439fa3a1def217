//! Problems with a model that can be found before it is asked: an unknown provider, a missing key or address, a
//! misspelt name. Does not check whether the server answers.

use std::collections::BTreeMap;

use types::ModelRef;

use super::known::Known;
use crate::Catalogue;

/// Why a model cannot be asked, found without asking it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelProblem {
    #[error("there is no provider {provider:?}; {hint}")]
    NoProvider { provider: String, hint: String },
    #[error("there is no address for {model}; set {}", variables.join(" and "))]
    NoAddress { model: ModelRef, variables: Vec<String> },
    #[error("there is no key for {model}; set {}{}", variables.join(" or "), get_at(url))]
    NoKey { model: ModelRef, variables: Vec<String>, url: Option<String> },
    #[error(
        "{model} is not a known model; did you mean {near}? (if it is meant, add [models.\"{model}\"] to your config.toml)"
    )]
    Misspelt { model: ModelRef, near: String },
}

fn get_at(url: &Option<String>) -> String {
    url.as_ref().map(|url| format!(" (keys are at {url})")).unwrap_or_default()
}

/// The provider of a model, if the model can be asked at all.
pub(super) fn askable<'a>(
    providers: &'a BTreeMap<String, Known>,
    model: &ModelRef,
) -> Result<&'a Known, ModelProblem> {
    let known = providers.get(model.provider()).ok_or_else(|| {
        let names = || providers.keys().map(String::as_str);
        let hint = match types::nearest(model.provider(), names()) {
            Some(near) => format!("did you mean {near}/{}?", model.name()),
            None => format!("known are {}", names().collect::<Vec<_>>().join(", ")),
        };
        ModelProblem::NoProvider { provider: model.provider().to_owned(), hint }
    })?;
    let (model, variables) = (model.clone(), known.key_env.clone());
    if !known.address_env.is_empty() {
        return Err(ModelProblem::NoAddress { model, variables: known.address_env.clone() });
    }
    if known.key_needed && !known.has_key() {
        return Err(ModelProblem::NoKey { model, variables, url: known.key_url.clone() });
    }
    Ok(known)
}

/// A name that differs from a known one in letters, but not in its version, is a typo. A name with another version is
/// assumed to be newer than the catalogue.
pub(super) fn misspelt(catalogue: &Catalogue, model: &ModelRef) -> Option<ModelProblem> {
    if catalogue.find(model).is_some() {
        return None;
    }
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let (name, version) = (model.to_string(), digits(model.name()));
    let of_provider = |known: &&str| {
        let rest = known.strip_prefix(model.provider()).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| {
            digits(rest) == version && rest.len().abs_diff(model.name().len()) <= 2
        })
    };
    let known = catalogue.list().map(|(known, _)| known).filter(of_provider);
    let near = types::nearest(&name, known)?.to_owned();
    Some(ModelProblem::Misspelt { model: model.clone(), near })
}
