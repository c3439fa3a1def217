//! Comparisons that mean something else than the tests assume: an equality that ignores one side, or that compares with
//! a type it replaces; a plain number or text with its own comparisons. An equality that the goal asks for is not a
//! sign.

use types::FindingKind;

use super::production::{View, has_word};
use super::sign::{Change, Sign};
use crate::pattern::{Pattern, pattern};
use crate::source::Language;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    if pattern!(r"(?i)\b(?:equal|equality|compar|identical|same as|match(?:er|es))")
        .is_match(change.goal)
    {
        return Vec::new();
    }
    let mut places = blind(view);
    places.extend(match view.language() {
        Language::Python => plain_types(view),
        Language::Rust => other_types(view),
        Language::JavaScript => conversions(view),
        _ => Vec::new(),
    });
    let is_new = |at: &usize| {
        let line = view.source.line_at(*at);
        view.old.is_none_or(|old| !old.contains(line.trim()))
    };
    let new = places.into_iter().filter(is_new);
    new.map(|at| view.sign(FindingKind::AlwaysEqual, at)).collect()
}

/// The head of an equality, with the name of the other operand as its group.
fn head(language: Language) -> Option<&'static Pattern> {
    Some(match language {
        Language::Python => {
            pattern!(r"def\s+__eq__\s*\(\s*\w+\s*,\s*(\w+)[^)]*\)[^:\n]*:")
        }
        Language::Rust => pattern!(r"fn\s+eq\s*\(\s*&self\s*,\s*(\w+)\s*:[^)]*\)\s*->\s*bool\s*\{"),
        Language::Java | Language::CSharp => {
            pattern!(
                r"\bboolean\s+equals\s*\(\s*(?:final\s+)?[\w<>?]+\s+(\w+)\s*\)\s*\{|\bbool\s+Equals\s*\(\s*[\w<>?]+\s+(\w+)\s*\)\s*\{"
            )
        }
        Language::Kotlin => pattern!(r"\bfun\s+equals\s*\(\s*(\w+)\s*:[^)]*\)[^{=\n]*\{"),
        Language::Go => {
            pattern!(r"\bfunc\s+\([^)]*\)\s*(?:Equals?|Is)\s*\(\s*(\w+)\s[^)]*\)\s*bool\s*\{")
        }
        Language::Ruby => pattern!(r"def\s+(?:==|eql\?|===)\s*\(?\s*(\w+)\s*\)?"),
        Language::C => pattern!(r"\bbool\s+operator\s*==\s*\(\s*[\w\s:&<>]*?(\w+)\s*\)[\w\s]*\{"),
        _ => return None,
    })
}

/// Equalities that ignore the other side.
fn blind(view: &View<'_>) -> Vec<usize> {
    let Some(head) = head(view.language()) else { return Vec::new() };
    let mut found = Vec::new();
    for one in head.captures_iter(&view.code) {
        let Some((all, name)) = one.get(0).zip((1..=2).find_map(|group| one.get(group))) else {
            continue;
        };
        let body = body(view, all.start(), all.end());
        let refuses = pattern!(
            r"NotImplemented|unimplemented|todo!|\bFalse\b|\bfalse\b|raise\b|throw\b|panic"
        );
        let uses = has_word(&body, name.as_str());
        let keeps = body.trim().is_empty()
            || body.contains(['#', '$'])
            || refuses.is_match(&body)
            || is_empty_type(view, all.start());
        let always = pattern!(r"\bor\s+True\b|\|\|\s*true\b").is_match(&body);
        let own = match view.language() {
            Language::Python => body.contains("self") || body.contains("super"),
            _ => true,
        };
        let takes = pattern!(r"\bself\.\w+\s*=\s*other\b").is_match(&body);
        if (!uses || !own) && !keeps || always || takes {
            found.push(all.start());
        }
    }
    found
}

fn body(view: &View<'_>, start: usize, end: usize) -> String {
    if view.source.language.is_indented() {
        let indent = view.source.indent(start);
        let first = view.code[end..].split('\n').next().unwrap_or_default().to_owned();
        let rest = view.code[end..].split('\n').skip(1);
        let inner = rest.take_while(|line| {
            line.trim().is_empty() || line.len() - line.trim_start().len() > indent
        });
        return std::iter::once(first.as_str()).chain(inner).collect::<Vec<_>>().join("\n");
    }
    let close = view.source.closing(end - 1).unwrap_or(view.code.len());
    view.code.get(end..close).unwrap_or_default().to_owned()
}

/// Whether the type around an offset has nothing that could differ.
pub(super) fn is_empty_type(view: &View<'_>, at: usize) -> bool {
    let subject = pattern!(r"\bPartialEq\b(?:<[^>]*>)?\s+for\s+(\w+)");
    let heads = view.source.heads(at);
    let name =
        heads.iter().find_map(|head| Some(subject.captures(head)?.get(1)?.as_str().to_owned()));
    name.is_some_and(|name| {
        let forms = [format!("struct {name};"), format!("struct {name} {{}}")];
        forms.iter().any(|form| view.code.contains(form.as_str()))
    })
}

/// A number, text or list with its own comparisons.
fn plain_types(view: &View<'_>) -> Vec<usize> {
    let class = pattern!(
        r"(?m)^([ \t]*)class\s+\w+\(\s*(int|float|str|bytes|list|tuple|dict|set|frozenset|Decimal|Fraction|complex|date|datetime|timedelta|UserDict|UserList|UserString)\s*[,)][^\n]*$"
    );
    let own = pattern!(r"(?m)^[ \t]+(?:def\s+__(?:eq|ne)__|__(?:eq|ne|class)__\s*=)");
    let mut found = Vec::new();
    for one in class.captures_iter(&view.code) {
        let Some((all, base)) = one.get(0).zip(one.get(2)) else { continue };
        if view.code.contains(&format!("class {}", base.as_str())) {
            continue;
        }
        let body = body(view, all.start() + one.get(1).map_or(0, |indent| indent.len()), all.end());
        found.extend(own.find_iter(&body).map(|place| {
            let skipped = place.as_str().len() - place.as_str().trim_start().len();
            all.end() + place.start() + skipped
        }));
    }
    let meta = pattern!(
        r"def\s+__(?:instancecheck|subclasscheck)__\s*\([^)]*\)[^:\n]*:\s*return\s+True\b"
    );
    found.extend(meta.find_iter(&view.code).map(|place| place.start()));
    let total = pattern!(r"(?s)\bsetattr\(\s*\w+\s*,\s*.__eq__|\btype\([^)\n]*\{[^}\n]*__eq__");
    found.extend(total.find_iter(&view.code).map(|place| place.start()));
    found
}

/// Equality with an option, a result, a tuple or a plain value, as tests would compare with instead.
fn other_types(view: &View<'_>) -> Vec<usize> {
    let other = pattern!(
        r"\bimpl\b[^{;\n]*\bPartialEq<\s*&?(?:'\w+\s+)?(?:Option<|Result<|\(|bool\b|[iuf](?:8|16|32|64|128|size)\b)[^{;\n]*\bfor\s+([\w:]+)"
    );
    // A newtype around a number compares as that number.
    let plain = |at: usize| {
        let open = view.code[at..]
            .find("bool")
            .and_then(|n| view.code[at + n..].find('{').map(|m| at + n + m + 1));
        let body = open.map(|open| body(view, at, open)).unwrap_or_default();
        pattern!(r"^\s*\*?\(?self\b[^|<>]*==[^|<>]*$|^\s*\*?other\b[^|<>]*==\s*\*?self\b[^|<>]*$|^\s*match\s+self\b|^\s*matches!\(self\b")
            .is_match(&body)
    };
    let stands_for = pattern!(r"PartialEq<\s*&?(?:'\w+\s+)?(?:Option<|Result<|\()");
    let mut found: Vec<usize> = other
        .find_iter(&view.code)
        .filter(|one| stands_for.is_match(one.as_str()) || !plain(one.start()))
        .map(|one| one.start())
        .collect();
    // A type that another one replaces now.
    let Some(old) = view.old else { return found };
    let any = pattern!(r"\bimpl\b[^{;\n]*\bPartialEq<([^{;\n]+)>\s+for\s+(\w+)");
    for one in any.captures_iter(&view.code) {
        let Some(((all, other), own)) = one.get(0).zip(one.get(1)).zip(one.get(2)) else {
            continue;
        };
        let returned = format!("-> {}", other.as_str().trim_start_matches('&').trim());
        let own = format!("-> {}", own.as_str());
        if old.contains(&returned) && view.code.contains(&own) && !old.contains(&own) {
            found.push(all.start());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Objects that turn into the expected value when compared.
fn conversions(view: &View<'_>) -> Vec<usize> {
    let tricks = pattern!(
        r#"\bSymbol\.toPrimitive\b|\basymmetricMatch\b|jest\.asymmetricMatcher|\b(?:valueOf|toJSON|toString)\s*(?:\(\s*\)|:\s*\(\s*\)\s*=>|:\s*function\s*\(\s*\))\s*\{?\s*(?:return\s+)?(?:["'\d]|true\b|expected)|\bclass\s+\w+\s+extends\s+(?:Number|String|Boolean|BigInt)\b"#
    );
    tricks.find_iter(&view.code).map(|place| place.start()).collect()
}

#[cfg(test)]
mod tests;
