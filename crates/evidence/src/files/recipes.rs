//! Names of recipes: files that determine how tests are found, built and run. Tables only; their contents are not read.

/// Files by their whole name; `KEPT` and `MERGED` are recipes, too.
const NAMES: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    "sitecustomize.py",
    "usercustomize.py",
    ".coveragerc",
    ".python-version",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".nvmrc",
    ".nycrc",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    "nx.json",
    "turbo.json",
    "lerna.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Rakefile",
    "rakefile",
    "rust-toolchain",
    "rust-toolchain.toml",
    "nextest.toml",
    "gradle.properties",
    "gradlew",
    "mvnw",
    "CTestTestfile.cmake",
    "WORKSPACE",
    ".bazelrc",
    "phpunit.xml",
    "phpunit.xml.dist",
    ".rspec",
    ".ruby-version",
    ".tool-versions",
    "mise.toml",
    ".gitattributes",
    ".gitignore",
    "Dockerfile",
    "Containerfile",
    ".dockerignore",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yaml",
    "compose.yml",
    ".env",
    ".envrc",
    ".gitlab-ci.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".travis.yml",
    "appveyor.yml",
    "bitbucket-pipelines.yml",
    "xunit.runner.json",
    "Directory.Build.props",
    "global.json",
];

/// Prefixes of settings files, up to a dot: `jest.config.ts`, `.mocharc.yml`.
const SETTINGS: &[&str] = &[
    "jest.",
    "vitest.",
    "vite.config",
    ".mocharc",
    "karma.conf",
    "ava.config",
    "nyc.config",
    "babel.config",
    ".babelrc",
    "tsconfig",
    ".swcrc",
    "playwright.config",
    "cypress.config",
    "wdio.conf",
    "Taskfile",
    "jasmine.",
    "webpack.config",
    "rollup.config",
    "Dockerfile.",
    ".env.",
    "requirements-",
    "requirements_",
    "nodemon.",
    ".taprc",
];

/// Suffixes of names.
const ENDINGS: &[&str] = &[".mk", ".pth", ".runsettings"];

/// Modules and packages that shadow those of a runner where they are new.
const SHADOWS: &[&str] = &[
    "pytest",
    "_pytest",
    "unittest",
    "pluggy",
    "nose",
    "nose2",
    "xdist",
    "pytest_cov",
    "iniconfig",
];

/// Settings by folder and name.
const PLACES: &[(&str, &str)] = &[
    (".cargo", "config"),
    (".cargo", "config.toml"),
    (".config", "nextest.toml"),
    (".mvn", ""),
    (".github", ""),
    (".circleci", ""),
    (".gitlab", ""),
    (".buildkite", ""),
    (".husky", ""),
    ("node_modules", ""),
    ("gradle", ""),
    (".venv", ""),
    ("venv", ""),
    ("site-packages", ""),
    (".bundle", "config"),
    (".yarn", ""),
    ("vendor/bin", ""),
];

/// Lock files, which a package manager writes.
const LOCKS: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "go.sum",
    "go.work.sum",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "Gemfile.lock",
    "composer.lock",
    "packages.lock.json",
    "gradle.lockfile",
    "mix.lock",
    "pubspec.lock",
    "deno.lock",
    "flake.lock",
];

/// Recipes that mix dependencies or sources with test settings inseparably: the new ones stay.
const KEPT: &[&str] = &[
    "build.rs",
    "setup.py",
    "go.mod",
    "go.work",
    "CMakeLists.txt",
    "meson.build",
    "BUILD",
    "BUILD.bazel",
    "MODULE.bazel",
    "pom.xml",
    "Gemfile",
    "requirements.txt",
    "Pipfile",
    "environment.yml",
    "composer.json",
    ".gitmodules",
];

const KEPT_ENDINGS: &[&str] = &[".gradle", ".gradle.kts", ".csproj", ".fsproj", ".sln"];

/// Manifests whose parts can be separated.
const MERGED: &[&str] = &["Cargo.toml", "package.json", "pyproject.toml", "setup.cfg"];

pub(super) fn is_recipe(folders: &[&str], name: &str) -> bool {
    [NAMES, KEPT, MERGED].iter().any(|names| names.contains(&name))
        || SETTINGS.iter().any(|start| name.starts_with(start))
        || ENDINGS.iter().chain(KEPT_ENDINGS).any(|end| name.ends_with(end))
        || is_shadow(folders, name)
        || PLACES.iter().any(|(folder, only)| {
            let last = folders.last().copied().unwrap_or_default();
            if only.is_empty() {
                in_place(folders, folder)
            } else {
                last == *folder && name == *only
            }
        })
}

/// Whether a module or package has the name of a runner's. The other files of a package shadow nothing without its
/// `__init__.py`.
pub(super) fn is_shadow(folders: &[&str], name: &str) -> bool {
    let module = match name {
        "__init__.py" => folders.last().copied().unwrap_or_default(),
        _ => name.strip_suffix(".py").unwrap_or_default(),
    };
    SHADOWS.contains(&module)
}

fn in_place(folders: &[&str], place: &str) -> bool {
    let whole = folders.join("/");
    folders.contains(&place) || (place.contains('/') && whole.ends_with(place))
}

pub(super) fn is_lock(name: &str) -> bool {
    LOCKS.contains(&name)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether the new version of a changed file always stays.
pub(super) fn is_kept(path: &str) -> bool {
    let name = name_of(path);
    let required = name.starts_with("requirements-") || name.starts_with("requirements_");
    required
        || is_lock(name)
        || KEPT.contains(&name)
        || KEPT_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Whether `restored_manifest` supports a file.
pub(super) fn is_merged(path: &str) -> bool {
    MERGED.contains(&name_of(path))
}
