//! Well-known names: file extensions, folders, products that look like code. Lists only.

/// File extensions.
pub(super) const ENDINGS: &str = "rs py js mjs cjs ts tsx jsx go java kt kts c h cpp hpp cc hh cs rb php swift scala sh bash zsh fish toml \
    yaml yml json jsonl xml html htm css scss sass less md mdx txt rst sql proto graphql vue svelte lock cfg ini \
    conf env gradle mk cmake ipynb csv tsv log tf hcl ex exs erl hs ml clj dart lua jl pl zig nim asm ps1 bat \
    tex svg png jpg pdf doc docx xlsx properties tmpl erb jinja feature";

/// Products that look like files.
pub(super) const NOT_FILES: &str = "next.js node.js vue.js nuxt.js three.js d3.js express.js react.js angular.js ember.js backbone.js chart.js \
    p5.js nest.js alpine.js discord.js electron.js moment.js knockout.js paper.js leaflet.js";

/// Files that are known by their name alone.
pub(super) const FILE_NAMES: &str = "Makefile Dockerfile Gemfile Rakefile Procfile Jenkinsfile Vagrantfile README LICENSE CHANGELOG CODEOWNERS \
    Justfile Brewfile";

/// Usual source folders.
pub(super) const FOLDERS: &str = "src lib app apps crates packages pkg tests test spec docs scripts cmd internal bin config public components \
    server backend frontend assets include examples migrations models views controllers";

/// Products that look like names in code.
pub(super) const BRANDS: &str = "github gitlab javascript typescript postgresql mysql graphql youtube linkedin macos openai paypal wordpress \
    whatsapp mongodb dynamodb fastapi tensorflow pytorch oauth oauth2 devops powerpoint nextjs nodejs vuejs \
    reactjs sqlite websocket websockets webassembly coffeescript hubspot mailchimp quickbooks docusign sendgrid \
    circleci bigquery clickhouse rabbitmq cockroachdb influxdb mariadb latex chatgpt deepl airbnb tiktok \
    onedrive sharepoint clickup restful woocommerce bitbucket soundcloud icloud lambdatest newrelic pagerduty \
    servicenow zendesk doordash fedex mcdonalds playstation facetime imessage airtable netsuite langchain \
    huggingface numpy scipy matlab autocad photoshop bluetooth jquery openid openidconnect salesforce mailerlite hellosign duckdb \
    netbeans supabase";

/// Top-level domains.
pub(super) const DOMAINS: &str = "com org net io dev ai co de uk eu fr app gov edu info ch at nl es it us me tv shop xyz test example";

/// System errors and signals.
pub(super) const ERRNOS: &str = "ENOENT ECONNREFUSED EADDRINUSE EACCES EPERM ETIMEDOUT ECONNRESET EPIPE EINVAL ENOMEM ENOSPC ENOTFOUND \
    SIGSEGV SIGABRT SIGKILL SIGTERM SIGBUS";

/// Suffixes of type names.
pub(super) const SUFFIXES: &str = "Service Controller Repository Handler Factory Parser Client Server View Model Component Provider Builder \
    Queue Map List Set Cache Store Form Card Button Page Screen Context Reducer Middleware Adapter Listener \
    Event Request Response Config Options State Type Node Tree Iterator Reader Writer Stream Buffer Loader \
    Scheduler Worker Job Task Test Tests Spec Utils Helper Module Plugin Interface Impl Dto DTO Entity Mapper \
    Schema Validator Formatter Converter Encoder Decoder Serializer Session Token Mixin Manager Router Engine \
    Pool Connection Driver Table Row Field Index Header Footer Modal Dialog";

/// Whether a list of words contains this one.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
