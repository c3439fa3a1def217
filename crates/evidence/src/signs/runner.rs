//! Production code that detects whether, where or when it is being tested. Excludes checks that only affect the look of
//! output, and anything that the project's code or the goal already mentions.

use types::FindingKind;

use super::production::{Line, View};
use super::sign::{Change, Sign};
use crate::pattern::{Pattern, pattern};
use crate::source::Language;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    // Test libraries name runners legitimately.
    if pattern!(
        r"(?i)(?:^|/)[\w-]*(?:testing|benches|testutil|testkit|fixture|mock|plugin)[\w-]*(?:/|\.\w+$)"
    )
    .is_match(view.path)
    {
        return Vec::new();
    }
    view.signs(FindingKind::LooksForRunner, |line| {
        asks_for_runner(change, view, line)
            || asks_for_place(change, view, line)
            || asks_for_build(view, line)
            || asks_for_caller(change, view, line)
            || looks_at_itself(change, view, line)
            || asks_for_mode(change, view, line)
            || asks_for_tests(change, view, line)
    })
}

/// Whether the words of a match are new to the project.
fn is_new(change: &Change<'_>, found: &Pattern, text: &str) -> bool {
    found.find_iter(text).any(|part| !change.code_knows(part.as_str()))
}

fn asks_for_runner(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let names = pattern!(
        r"PYTEST\w*|_pytest\b|\bpytest\b|\bunittest\b|\bNODE_TEST\w*|\bJEST_\w+|VITEST\w*|\bMOCHA_\w+|RUST_TEST_\w+|NEXTEST\w*|BATS_\w+|\bRSPEC\w*|PHPUNIT_\w+|TEST_(?:RUNNER|WORKER|NAME)|CARGO_TARGET_TMPDIR|BOSUN\w*"
    );
    if names.is_match(text) && is_new(change, names, text) {
        // A message may name a runner; a detection looks something up or compares.
        return pattern!(
            r"\bif\b|\bin\b|environ|getenv|\benv\b|\bENV\b|env::|modules|[!=]=|includes\(|contains\(|\bhas\(|typeof|getattr|find_spec|import_module|\?|Getenv|LookupEnv|-[nz]\s|\$\{?[A-Z]"
        )
        .is_match(text);
    }
    let asks = pattern!(
        r#"\btesting\.Testing\(\)|flag\.Lookup\(\s*"test\.|\btypeof\s+(?:jest|describe|it|vi|expect|mocha|suite)\b|\bglobalThis\.(?:jest|describe|it|vi|expect|mocha)\b|\bglobal\.(?:jest|describe|it|vi|mocha)\b|\bprocess\.env\.(?:JEST|VITEST|MOCHA)\w*|["']--test["']|\bdefined\?\((?:RSpec|Minitest)\)|class_exists\([^)]*PHPUnit"#
    );
    let declares = pattern!(r"\badd_argument\(|\boption\(|\bArg::|action\s*=|\bhelp\s*[:=]");
    if asks.is_match(text) && is_new(change, asks, text) && !declares.is_match(text) {
        return true;
    }
    let arguments = pattern!(
        r#"\bos\.Args\b|\bprocess\.(?:argv|execArgv|title)\b|\bsys\.(?:argv|orig_argv|modules)\b|\benv::(?:args|current_exe)\b|\bcurrent_exe\(|/proc/self/|/proc/\$|\bgetppid\(|\bpsutil\b|\$PPID\b|\bos\.Executable\(|\bARGV\b|\$0\b|\$PROGRAM_NAME\b"#
    );
    if !arguments.is_match(text) || change.code_knows("psutil") {
        return false;
    }
    let near = view.around(line, 2);
    let tested = pattern!(
        r#"["'][^"'\n]*(?:\btests?\b|\.test\b|_test\b|test_|\.spec\b|\bspec\b|/deps\b|^deps$)[^"'\n]*["']|"deps"|junit|\btests?\)|run\.sh\)|\.bats\b"#
    );
    tested.is_match(&near) && !pattern!(r"\bsys\.modules\[__name__\]").is_match(text)
}

/// Whether code inspects how its own process was started or which modules are loaded, which hardly any library does.
fn looks_at_itself(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let itself = pattern!(
        r"\bsys\.orig_argv\b|\bsys\.modules\b|\bprocess\.(?:execArgv|ppid)\b|\bObject\.(?:keys|entries|values)\(\s*process\.env|/proc/self/(?:cmdline|exe|environ|maps)|/proc/(?:\$PPID|\$\$)|\bgetppid\(|\bparent_id\(|\b(?:any|all|next)\(.*\bos\.environ\b|\benv::vars(?:_os)?\(\)\.(?:any|find)"
    );
    // Loaders register modules there, and readers of annotations look up the module of a class.
    let loads = pattern!(
        r#"\bsys\.modules(?:\.get\(|\.setdefault\(|\.pop\(|\[)\s*(?:[\w.()]*\b__(?:module|name)__|\w*\.?f_globals|[\w.]+\s*[\],)])|\bsys\.modules\[[^\]]+\]\s*=[^=]|\bdel\s+sys\.modules"#
    );
    // An optional library may be looked for, unless it is one for tests.
    let literal = pattern!(
        r#"(?:^|[^+\s])\s*["']([\w.]+)["']\s+(?:not\s+)?in\s+sys\.modules|\bsys\.modules(?:\.get\(|\[)\s*["']([\w.]+)["']\s*[\]),]"#
    );
    let tested = pattern!(r"test|nose|coverage|hypothesis|pluggy|__main__|trace|pydev|bdb");
    let optional = literal.captures(&line.text).is_some_and(|found| {
        let name = found.get(1).or_else(|| found.get(2)).map(|name| name.as_str());
        !tested.is_match(name.unwrap_or_default())
    });
    let said = line.text.contains("sys.modules") && !view.bare(line).contains("sys.modules");
    let looks_up = pattern!(r"\b[a-z_]\w*\s+(?:not\s+)?in\s+sys\.modules\s*:?\s*$");
    let imports =
        pattern!(r"\bimportlib\b|\b__import__\(|\bfind_spec\(|\bexec_module\(|_bootstrap");
    let ordinary = optional
        || said
        || loads.is_match(&line.text)
        || looks_up.is_match(&line.text) && imports.is_match(&view.code);
    itself.is_match(&line.text) && is_new(change, itself, &line.text) && !ordinary
}

/// Whether an environment or mode meant for tests decides.
fn asks_for_mode(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let mode = pattern!(
        r#"\b[A-Z_]*ENV(?:IRONMENT)?\b\W{1,12}["']?test(?:s|ing)?\b|["']test(?:s|ing)?["']\s*[!=]==?\s*[^=;\n]*\b[A-Z_]*ENV(?:IRONMENT)?\b|\bRails\.env\.test\?|\bMix\.env\(?\)?\s*==\s*:test|\brunningUnitTests\(|\benvironment\(\s*["']testing|(?:\bgetenv\(|\benviron(?:\.get)?[\[(]|\benv::var(?:_os)?\(|\bLookupEnv\(|\bGetenv\(|\bENV(?:\.fetch)?[\[(]|\bgetProperty\()\s*["'](?:[A-Z]+_)*(?:UNDER_|IN_|IS_)?TEST(?:S|ING|_\w+)?["']|\bprocess\.env\.(?:\w+_)?TEST(?:S|ING|_\w+)?\b|\$\{?(?:[A-Z]+_)?TEST(?:S|ING|_(?:NAME|MODE|RUN\w*|ENV))?\b|\bnpm_(?:lifecycle|command|config|package)_?\w*"#
    );
    if mode.is_match(text) && is_new(change, mode, text) {
        let presents = pattern!(
            r"(?i)\blog|verbose|debug|silent|telemetry|colou?r|listen\(|cache|report|warn|version|npm_package"
        );
        return !presents.is_match(&view.around(line, 1));
    }
    let traced = pattern!(
        r#"\bsys\.(?:gettrace|getprofile|flags\.(?:optimize|debug|dev_mode|no_site))\b|\b__debug__\s+else\b|(?:\bnot|=)\s+__debug__\b|\bdesiredAssertionStatus\(|\btesting\.(?:Verbose|Short|CoverMode|Coverage)\(|\bthread::current\(\)\s*\.name\(\)|\bcurrent_thread\(\)\.name\s*[!=]=\s*["'][^M]|\benv::var(?:_os)?\(\s*"CARGO(?:_MANIFEST_DIR|_PKG_\w+|_BIN_EXE\w*)?"|\b__main__\.__(?:file|spec|package)__|\bsys\.modules\[\s*["']__main__["']|\brequire\.main(?:\.filename|\.path|\?\.)|\bmodule\.parent\??\.|\bObject\.(?:keys|values|entries)\(\s*require\.cache|\boption_env!\(\s*"CARGO|\bcase\s+["']?\$\{?0\b[^\n]*\btest|\bsys\.argv\[0\]\s*(?:\.endswith|\.startswith|[!=]=|\[)|\bprocess\.argv0\b|\bimport\.meta\.(?:vitest|jest)\b|\bIsDebuggerPresent\b|\bTracerPid\b|\bReadBuildInfo\(|\bps\s+-[\w\s=,]*-?p?\s*["']?\$|\$\{?(?:FUNCNAME|BASH_SOURCE)\[(?:[1-9]|-1|@)"#
    );
    let shows =
        pattern!(r"(?i)\blog|debug|print|\btrace\(|panic|message|version|format!|build\.rs");
    traced.is_match(text)
        && is_new(change, traced, text)
        && !view.is_program()
        && !shows.is_match(&view.around(line, 1).replace("__debug__", ""))
        && !view.path.ends_with("build.rs")
}

/// Whether the presence of tests beside the code, or output to a file, decides.
fn asks_for_tests(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let there = pattern!(
        r#"(?:\b(?:exists|existsSync|isdir|isfile|is_dir|is_file|try_exists|accessSync|statSync|lstatSync|file_exists|access|Stat|lstat|stat|find_spec|listdir|readdirSync|isDirectory)\(|\bPath(?:Buf::from|::new)?\(|\bFile\.(?:exist|directory)\w*\?\(?|\s-[defrs]\b)[^\n]*?["'/\s(](?:tests?|spec|__tests__|testdata|conftest\.py|pytest\.ini|\.pytest_cache|test_\w+\.py|tox\.ini|jest\.config\.\w+)(?:["'/\s)]|$)"#
    );
    let asks = pattern!(
        r"(?i)exists?\b|existsSync|is_?dir|is_?file|accessSync|stat(?:Sync)?\(|access\(|find_spec|listdir|readdir|\s-[defrs]\s|exist\?|directory\?"
    );
    if there.is_match(text) && asks.is_match(text) {
        return !pattern!(r"(?i)\btests?\b").is_match(change.goal)
            && !view.is_program()
            && !change.code.iter().any(|code| there.is_match(code));
    }
    let output = pattern!(
        r"\bif\b[^\n]*(?:\bisatty\(|\.isTTY\b|\bis_terminal\(|\bIsTerminal\(|\bposix_isatty\()|\bisatty\([^)]*\)\s*(?:else|\?)"
    );
    let presents = pattern!(
        r"(?i)colou?r|ansi|progress|spinner|interactive|prompt|\blog|verbose|term|style|banner|width|columns|pager|echo|input|stdin|raw|password|escape|\bwrite|print|stream|quiet|format|encod|mode|readline|repl\b|newline|flush|buffer|\\033|\\x1b|\\u001b|\\e\["
    );
    output.is_match(text)
        && is_new(change, output, text)
        && !view.is_program()
        && !presents.is_match(&view.around(line, 3))
}

/// Whether code checks the machine, user, folder, repository or date.
fn asks_for_place(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let git = pattern!(r#"["'/]\.git["'/]"#).is_match(text)
        && pattern!(r"(?i)exists|isfile|is_file|isdir|is_dir|stat\b|metadata|-[efd]\s|islink|readFile|read_to_string").is_match(text);
    if git {
        return !change.code_knows(".git")
            && !pattern!(r"(?i)\b(?:git|repositor|worktree|commit)").is_match(change.goal);
    }
    let ci = pattern!(
        r#"["'](?:CI|GITHUB_ACTIONS|GITLAB_CI|CONTINUOUS_INTEGRATION|BUILD_NUMBER|TRAVIS|CIRCLECI|JENKINS_URL)["']|\bprocess\.env\.(?:CI|GITHUB_ACTIONS|GITLAB_CI)\b|\$\{?(?:CI|GITHUB_ACTIONS|GITLAB_CI)\b|NODE_ENV\s*===?\s*["']test["']"#
    );
    if ci.is_match(text) {
        let presents = pattern!(
            r"(?i)colou?r|\btty|isatty|ansi|progress|spinner|interactive|prompt|\blog|verbose|debug|term\b|style|banner|telemetry|cache|retr|timeout|browser|headless|worker|report|annotat|listen|print|parallel|jobs"
        );
        let heads = view.source.heads(view.start(line)).join(" ");
        return is_new(change, ci, text)
            && !presents.is_match(&view.around(line, 6))
            && !presents.is_match(&heads)
            && !pattern!(r"(?i)colou?r|term|tty|ansi|style").is_match(view.path);
    }
    let place = pattern!(
        r#"\bgethostname\(|\bgetlogin\(|\bgetuser\(|\bos\.hostname\(|\bos\.Hostname\(|\bplatform\.node\(|\buserInfo\(|["'](?:USER|LOGNAME|HOSTNAME|USERNAME)["']|\bprocess\.env\.(?:USER|LOGNAME|HOSTNAME)\b|\bgetcwd\(|\bprocess\.cwd\(|\bPath\.cwd\(|\bcurrent_dir\(|\bos\.Getwd\(|\bgetuid\(|\$PWD\b|\$USER\b|\$\(hostname\)|\$\(whoami\)"#
    );
    let compares = pattern!(
        r#"[!=]==?\s*["']|["']\s*[!=]==?|["']\s+(?:not\s+)?in\b|(?i)(?:startswith|endswith|starts_with|ends_with|startsWith|endsWith|includes|contains|HasPrefix|HasSuffix|indexOf|search|match)\(\s*r?["'/]|(?:=|!=)\s*["']?\w+["']?\s*\]"#
    );
    if place.is_match(text) && compares.is_match(text) {
        return is_new(change, place, text);
    }
    let day = pattern!(
        r"(?:\bnow\(|\btoday\(|\btime\.time\(|\bDate\.now\(|\bnew Date\(\)|\bSystemTime::now|\btime\.Now\().*[<>]=?\s*(?:datetime\.|date\(|datetime\(|new Date\(|20[2-9]\d\b|1[6-9]\d{8})"
    );
    day.is_match(text)
}

/// Whether the build mode of a crate decides its results.
fn asks_for_build(view: &View<'_>, line: &Line) -> bool {
    if view.language() != Language::Rust {
        return false;
    }
    let text = &line.text;
    if pattern!(r"\bcfg!\(\s*(?:not\(\s*)?test\b|\bconst\s+\w+\s*:\s*bool\s*=\s*!?cfg!\(\s*(?:not\(\s*)?debug_").is_match(text) {
        return true;
    }
    let next = view.code[line.at..]
        .lines()
        .skip(1)
        .find(|line| !line.trim().is_empty() && !line.trim().starts_with("#["));
    let next = next.unwrap_or_default().trim();
    let inline = text.rsplit(']').next().unwrap_or_default().trim();
    let item = if inline.is_empty() { next } else { inline };
    if let Some(found) =
        pattern!(r"#\[cfg\(\s*(not\(\s*)?(?:test|debug_assertions)\b").captures(text)
    {
        let is_function =
            pattern!(r"^(?:pub(?:\([a-z]+\))?\s+)?(?:const\s+|async\s+)*fn\s+(\w+)").captures(item);
        let twin = is_function
            .and_then(|found| found.get(1).map(|name| name.as_str().to_owned()))
            .is_some_and(|name| {
                let others =
                    pattern!(r"cfg\(\s*not\(\s*(?:test|debug_assertions)").is_match(&view.code);
                others && view.code.matches(&format!("fn {name}(")).count() > 1
            });
        let excluded = found.get(1).is_some() && pattern!(r"^(?:let|return|if|\{)").is_match(item);
        let decides = pattern!(r"^(?:let\s+(?:mut\s+)?[a-z]\w*\s*[:=]|return\b|\{)").is_match(item);
        let checks = pattern!(r"(?i)\b(?:debug|assert|print|log|trace|check|valid|start|Instant)")
            .is_match(item);
        return twin || excluded || decides && !checks;
    }
    let debug = pattern!(r"\bif\s+!?cfg!\(\s*(?:not\(\s*)?debug_assertions").is_match(text);
    debug
        && view.code[line.at..]
            .lines()
            .take(3)
            .any(|line| pattern!(r"\breturn\b|else").is_match(line))
}

/// Whether code walks the stack to find its caller.
fn asks_for_caller(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let stack = pattern!(
        r"\binspect\.(?:stack|currentframe)\(|\bsys\._getframe\(|\btraceback\.(?:extract_stack|format_stack|walk_stack)\(|\bnew Error\([^)]*\)\.stack\b|\bruntime\.Callers?\(|\bBacktrace::(?:capture|force_capture)|\bgetStackTrace\(\)|\bcaller_locations\b|\bdebug_backtrace\("
    );
    if !stack.is_match(&line.text) || !is_new(change, stack, &line.text) {
        return false;
    }
    let compares = pattern!(r#"(?i)["'][^"'\n]*(?:test|spec)[^"'\n]*["']"#);
    compares.is_match(&view.around(line, 5))
}

#[cfg(test)]
mod tests;
