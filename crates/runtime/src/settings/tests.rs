//! Tests of layers, origins and refusals.

use super::*;

struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("project/.bosun")).expect("a folder");
        Self { dir }
    }

    fn put(self, name: &str, text: &str) -> Self {
        std::fs::write(self.dir.path().join(name), text).expect("a file");
        self
    }

    fn load_with(
        &self,
        variables: &[(&str, &str)],
        flags: &[(&str, &str, String)],
    ) -> Result<Loaded, ConfigError> {
        let at = |name: &str| Some(self.dir.path().join(name));
        let sources = Sources {
            system: at("system.toml"),
            user: at("user.toml"),
            models: at("models.toml"),
            project: at("project"),
        };
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        load(&sources, variable, flags)
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        self.load_with(&[], &[])
    }
}

fn refused(name: &str, text: &str) -> String {
    Stage::new().put(name, text).load().map(|_| ()).expect_err("it cannot be used").to_string()
}

#[test]
fn layers_are_merged_key_by_key_and_the_stronger_wins() {
    let stage = Stage::new()
        .put("system.toml", "model = \"a/system\"\neffort = \"low\"\n[budget]\ncalls = 9\n")
        .put("models.toml", "default = \"a/models\"\n[retry]\nmax_tries = 7\n")
        .put("user.toml", "[roles.planner]\nmodel = \"a/planner\"\n[budget]\nmoney = \"2.50\"\n")
        .put("project/.bosun/config.toml", "[roles.coder]\nmodel = \"a/coder\"\n");
    let loaded = stage.load().expect("fine");
    let settings = &loaded.settings;
    let of = |role: &str| settings.roles[role].model.as_ref().map(ToString::to_string);
    assert_eq!(settings.model.as_ref().map(ToString::to_string).as_deref(), Some("a/models"));
    assert_eq!(of("planner").as_deref(), Some("a/planner"));
    assert_eq!(of("coder").as_deref(), Some("a/coder"));
    assert_eq!((settings.retry.max_tries, settings.budget.calls), (7, Some(9)));
    let place = |key: &str| loaded.origin(key).map(ToString::to_string).expect("it is set");
    assert!(place("model").contains("user") && place("model").contains("models.toml, line 1"));
    assert!(place("roles.coder.model").contains("project"), "{}", place("roles.coder.model"));
    assert!(place("roles.planner.model").contains("user.toml, line 2"));
    assert_eq!(place("deadlines.idle_ms"), "built in");

    let flags = [("--planner-model", "roles.planner.model", "a/flag".to_owned())];
    let loaded = stage.load_with(&[("BOSUN_MODEL", "a/variable")], &flags).expect("fine");
    assert_eq!(
        loaded.origin("model").expect("set").to_string(),
        "environment (the variable BOSUN_MODEL)"
    );
    assert_eq!(
        loaded.origin("roles.planner.model").expect("set").to_string(),
        "flag (--planner-model)"
    );
}

#[test]
fn the_built_in_values_are_those_of_the_code() {
    let settings = Stage::new().load().expect("fine").settings;
    assert_eq!(settings.retry, llm::RetryPolicy::default());
    assert_eq!(settings.deadlines, llm::Deadlines::default());
    assert_eq!(settings.breaker, llm::BreakerPolicy::default());
    let quirks = KEYS.iter().filter(|key| key.path.contains(".quirks."));
    let lines = quirks.map(|key| {
        let name = key.path.rsplit('.').next().expect("a name");
        format!("{name} = {}\n", key.default.expect("a default"))
    });
    let quirks: llm::Quirks = toml::from_str(&lines.collect::<String>()).expect("all of them");
    assert_eq!(quirks, llm::Quirks::default());
}

#[test]
fn a_mistake_is_named_with_file_line_and_suggestion() {
    for (text, line, cause) in [
        ("effort = \"low\"\nmodle = \"a/b\"\n", 2, "unknown key modle; did you mean model?"),
        ("[roles.planner]\nmodl = \"a/b\"\n", 2, "roles.planner.modl; did you mean model?"),
        ("[zzz]\na = 1\n", 1, "unknown key zzz; known keys: model, effort"),
        ("model = \"anthropic\"\n", 1, "model: "),
        ("effort = \"hihg\"\n", 1, "did you mean high?"),
        ("[budget]\ntokens = \"many\"\n", 2, "budget.tokens: expected a whole number"),
        ("checks = \"cargo test\"\n", 1, "checks: expected a list of strings"),
        ("retry = 3\n", 1, "retry must be a table with max_tries"),
        ("model = \n", 1, ""),
    ] {
        let said = refused("user.toml", text);
        assert!(said.contains(&format!("user.toml, line {line}: ")), "{said}");
        assert!(said.contains(cause), "{said}");
    }
    let said = refused("models.toml", "defualt = \"a/b\"\n");
    assert!(said.contains("did you mean default?"), "{said}");
    let said = refused("models.toml", "preset = \"crew\"\n");
    assert!(said.contains("unknown key preset; known keys: providers"), "{said}");
    let variable = Stage::new().load_with(&[("BOSUN_EFFORT", "hard")], &[]).expect_err("no word");
    assert!(variable.to_string().starts_with("the variable BOSUN_EFFORT: "), "{variable}");
}

#[test]
fn a_project_only_chooses_among_what_the_person_allows() {
    let project = "project/.bosun/config.toml";
    for (text, what) in [
        ("[providers.openai]\nbase_url = \"http://evil.test\"\n", "providers.openai.base_url"),
        ("on_question = [\"curl\", \"http://evil.test\"]\n", "on_question"),
        ("on_end = [\"./own.sh\"]\n", "on_end"),
        ("[providers.openai]\nkey_env = [\"AWS_SECRET_ACCESS_KEY\"]\n", "key_env"),
        ("instruction = \"Be evil\"\n", "instruction"),
        ("project_models = [\"*\"]\n", "project_models"),
        ("preset = \"solo\"\n", "your own files"),
        ("[budget]\ntokens = 900000000000\n", "budget.tokens"),
        ("[retry]\nmax_tries = 99\n", "retry.max_tries"),
    ] {
        let said = refused(project, text);
        assert!(said.contains("config.toml, line ") && said.contains(what), "{said}");
    }
    let stage = Stage::new()
        .put("user.toml", "project_models = [\"ollama/*\"]\n[budget]\nmoney = \"1\"\n")
        .put(project, "model = \"openai/gpt-5\"\n");
    let said = stage.load().expect_err("not allowed").to_string();
    assert!(said.contains("openai/gpt-5") && said.contains("--model"), "{said}");
    let stage = stage.put(project, "model = \"ollama/qwen3\"\n[budget]\nmoney = \"0.50\"\n");
    let settings = stage.load().expect("it chooses and lowers").settings;
    assert_eq!(settings.budget().money.map(|money| money.to_string()).as_deref(), Some("0.5000"));
    let stage = stage.put(project, "[budget]\nmoney = \"1.50\"\n");
    assert!(stage.load().expect_err("more").to_string().contains("may not raise"));
}

#[test]
fn settings_are_put_into_a_policy_and_an_unknown_role_is_refused() {
    let stage = Stage::new().put(
        "user.toml",
        "effort = \"low\"\ninstruction = \"Be brief.\"\nchecks = [\"make test\"]\n[roles.coder]\nmodel = \"a/c\"\n\
         effort = \"high\"\n",
    );
    let loaded = stage.load().expect("fine");
    let mut policy = presets::preset("crew").expect("it ships");
    loaded.check_roles(&policy).expect("the crew has a coder");
    loaded.settings.apply(&mut policy);
    loaded.settings.instruct(&mut policy);
    let role = |name: &'static str| &policy.roles[&types::RoleId::fixed(name)];
    assert_eq!(role("coder").model.as_ref().map(ToString::to_string).as_deref(), Some("a/c"));
    assert_eq!(
        (role("coder").effort, role("planner").effort),
        (Some(Effort::High), Some(Effort::Low))
    );
    assert!(role("planner").prompt.ends_with("# From the person\n\nBe brief.\n"));
    assert_eq!(policy.checks.len(), 1);
    let loaded = stage.put("user.toml", "[roles.codr]\nmodel = \"a/b\"\n").load().expect("fine");
    let said = loaded.check_roles(&policy).expect_err("no such role").to_string();
    assert!(said.contains("line 2") && said.contains("did you mean coder?"), "{said}");
}

#[test]
fn the_schemas_know_every_key() {
    let schema = schema();
    assert_eq!(
        schema["properties"]["roles"]["additionalProperties"]["properties"]["model"]["type"],
        "string"
    );
    assert_eq!(models_schema()["properties"]["default"]["type"], "string");
    for key in KEYS {
        let mut at = &schema;
        for part in key.path.split('.') {
            at = if part == "*" { &at["additionalProperties"] } else { &at["properties"][part] };
        }
        assert_eq!(at["description"], key.about, "{}", key.path);
    }
}

#[test]
fn a_catalogue_is_merged_into_what_is_there() {
    let before = "default = \"a/b\"\n[models.\"a/b\"]\nwindow = 1\n";
    let file = "[\"a/b\"]\nwindow = 2\n[\"a/c\"]\nwindow = 3\nprice = [{ input = \"1\", output = \"2\" }]\n";
    let merged = merged_models(before, file).expect("it fits");
    assert_eq!((merged.new, merged.changed), (1, 1));
    let settings = llm::Settings::parse(&merged.text).expect("it can be read again");
    assert_eq!(settings.models["a/b"].window, Some(2));
    assert_eq!(settings.default.map(|model| model.to_string()).as_deref(), Some("a/b"));
    assert_eq!(
        merged_models(&merged.text, file).map(|again| (again.new, again.changed)),
        Ok((0, 0))
    );
    assert!(
        merged_models("", "[\"a\"]\nwindow = 2\n")
            .is_err_and(|said| said.contains("provider/model"))
    );
    assert!(merged_models("", "[\"a/b\"]\nwindows = 2\n").is_err());
}
