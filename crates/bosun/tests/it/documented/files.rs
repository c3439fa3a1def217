//! Contents of the scratch repository: the files that the documents name, and the scripts of the runs in it.

/// A run with two tasks; the first attempt at the first submits nothing.
pub(super) const DONE: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [
    { id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] },
    { id = "T2", title = "Change the program", artifacts = ["src/main.rs"], depends_on = ["T1"] },
] }
[[attempt]]
role = "coder"
task = "T1"
n = 1
[[attempt.reply]]
say = "Here is what I would write."
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
call = { tool = "read_file", path = "src/main.rs" }
[[attempt.reply]]
call = { tool = "write_file", path = "src/main.rs", content = "fn main() {\n\n\n\n\n\n\n\n\n\n\n    hello();\n}\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// A session whose agent writes files.
pub(super) const SESSION: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "hi\n" }
[[attempt.reply]]
call = { tool = "write_file", path = "b.txt", content = "hi\n" }
[[attempt.reply]]
call = { tool = "write_file", path = "c.txt", content = "hi\n" }
[[attempt.reply]]
call = { tool = "write_file", path = "d.txt", content = "hi\n" }
[[attempt.reply]]
say = "It is written."
"#;

/// Files of the first commit.
pub(super) const FILES: &[(&str, &str)] = &[
    ("test.sh", "grep -q hello greeting.txt\n"),
    ("Makefile", "test:\n\tsh test.sh\n"),
    ("README.md", "# Harbor\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/parse.rs", "pub fn parse() {}\n"),
    ("api/users.py", "def get_user():\n    pass\n"),
    ("colours.schema.json", "{\"type\": \"object\"}\n"),
    ("order.json", "{\"user_request\": \"Write hello to greeting.txt\"}\n"),
    ("catalogue.toml", "[\"openrouter/some/model\"]\nwindow = 131072\n"),
    (
        "mine.toml",
        "[[permissions]]\nid = \"mine.look\"\nverdict = \"allow\"\nreason = \"looking changes nothing\"\n\
         commands = [\"ls\"]\n",
    ),
    (".gitignore", "*.jsonl\n*.yaml\n*.patch\n*.html\n*.xml\n*.sarif\n*.schema.json\n"),
];
