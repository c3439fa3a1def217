//! Failed checks that cannot run here, by their tools' messages, and similar ordinary failures.

use super::cannot_run;

fn says(exit: i32, output: &str) -> Option<String> {
    cannot_run(Some(exit), output, &|name| name == "ours")
}

#[test]
fn what_is_missing_is_named() {
    let rows = [
        (127, "sh: 1: nosuch: not found\n", "the command nosuch is not found (exit 127)"),
        (127, "bash: line 1: nosuch: command not found\n", "the command nosuch is not found"),
        (127, "zsh:1: command not found: nosuch\n", "the command nosuch is not found"),
        (
            127,
            "/usr/bin/env: ‘python’: No such file or directory\n",
            "the command python is not found",
        ),
        (127, "test.sh: 3: shellcheck: not found\n", "the command shellcheck is not found"),
        (
            127,
            "\n> test\n> jest\n\nsh: 1: jest: not found\n",
            "the command jest is not found (exit 127): node_modules",
        ),
        (127, "sh: 1: ./test.sh: not found\n", "the file ./test.sh does not exist"),
        (126, "sh: 1: ./t.sh: Permission denied\n", "the file ./t.sh is not executable"),
        (
            2,
            "nosuch\nmake: nosuch: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n",
            "the command nosuch is not found",
        ),
        (2, "make: *** No rule to make target 'test'.  Stop.\n", "make has no target test"),
        (1, "npm error Missing script: \"test\"\nnpm error\n", "npm has no script named test"),
        (
            1,
            "> a@1.0.0 test\n> echo \"Error: no test specified\" && exit 1\n\nError: no test specified\n",
            "package.json has no test script",
        ),
        (
            1,
            "Error: Cannot find module 'left-pad'\nRequire stack:\n- /srv/x.js\n",
            "the dependency left-pad is not installed: node_modules",
        ),
        (
            1,
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /srv/x.mjs\n",
            "the dependency @a/b is not installed",
        ),
        (
            1,
            "    Cannot find module 'lodash/fp' from 'a.test.js'\n",
            "the dependency lodash is not installed",
        ),
        (1, "npm error code EAI_AGAIN\n", "npm cannot download packages"),
        (
            1,
            "npm error npx canceled due to missing packages and no YES option: [\"tsc@2.0.4\"]\n",
            "the package tsc@2.0.4 is not installed",
        ),
        (1, "/usr/bin/python3: No module named pytest\n", "pytest is not installed"),
        (
            2,
            "E   ModuleNotFoundError: No module named 'numpyx.a'\n1 error in 0.19s\n",
            "the Python module numpyx is not installed",
        ),
        (
            4,
            "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov\n",
            "pytest does not know the option --cov",
        ),
        (
            4,
            "ERROR: file or directory not found: nofolder\n\n",
            "pytest cannot find the file or folder nofolder",
        ),
        (5, include_str!("../../fixtures/pytest-none.txt"), "no tests were found"),
        (4, include_str!("../../fixtures/nextest-none.txt"), "no tests were found"),
        (1, "No tests found, exiting with code 1\n", "no tests were found"),
        (
            1,
            "\u{1b}[31mNo test files found, exiting with code 1\n\u{1b}[39m\n",
            "no tests were found",
        ),
        (1, "Error: No test files found: \"zzz\"\n", "no tests were found"),
        (
            101,
            "    Updating crates.io index\nerror: failed to get `itoa` as a dependency of package `c`\n\nCaused by:\n  download of config.json failed\n",
            "cargo cannot download crates",
        ),
        (
            101,
            "error: could not find `Cargo.toml` in `/srv` or any parent directory\n",
            "there is no Cargo.toml here",
        ),
        (101, "error: no such command: `nextest`\n", "cargo nextest is not installed"),
        (1, "g.go:2:8: module lookup disabled by GOPROXY=off\n", "go cannot download modules"),
        (
            1,
            "pattern ./...: directory prefix . does not contain main module or its selected dependencies\n",
            "there is no go.mod here",
        ),
    ];
    for (exit, output, start) in rows {
        let said = says(exit, output).unwrap_or_default();
        assert!(said.starts_with(start), "{output}: {said}");
    }
}

#[test]
fn an_ordinary_failure_is_not_called_impossible() {
    let rows = [
        (0, "sh: 1: nosuch: not found\n"),
        (1, "sh: 1: nosuch: not found\n"),
        (127, "ok\ntest.sh: 3: greet: not found\n"),
        (127, "test.sh: 1: ./bin/tool: not found\n"),
        (2, "make: *** No rule to make target 'x.c', needed by 'test'.  Stop.\n"),
        (2, "make: *** [Makefile:2: test] Error 1\n"),
        (1, "ModuleNotFoundError: No module named 'ours.part'\n"),
        (1, "ModuleNotFoundError: No module named 'ours'\n"),
        (1, "ImportError: cannot import name 'x' from 'ours'\n"),
        (1, "Error: Cannot find module './own'\n"),
        (1, "Error: Cannot find module '/srv/own.js'\n"),
        (1, "Error: Cannot find module 'node:nosuch'\n"),
        (1, "E   ModuleNotFoundError: No module named 'numpyx'\n3 passed, 1 error in 0.19s\n"),
        (1, include_str!("../../fixtures/pytest-q.txt")),
        (1, include_str!("../../fixtures/unittest-fail.txt")),
        (101, include_str!("../../fixtures/cargo-fail.txt")),
        (101, "error[E0432]: unresolved import `nosuch`\nerror: could not compile `c`\n"),
        (1, include_str!("../../fixtures/go-v.txt")),
        (2, include_str!("../../fixtures/go-compile.txt")),
        (1, include_str!("../../fixtures/node-tap.txt")),
        (1, include_str!("../../fixtures/jest-fail.txt")),
    ];
    for (exit, output) in rows {
        assert_eq!(says(exit, output), None, "{output}");
    }
    assert_eq!(cannot_run(None, "sh: 1: nosuch: not found\n", &|_| false), None);
}
