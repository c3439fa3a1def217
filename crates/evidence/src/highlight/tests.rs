//! The classes of tokens, and that no text can make the lexer slow or alter characters.

use super::*;

/// The pieces with a class, as `k:let`, line by line.
fn told(path: &str, text: &str) -> Vec<String> {
    let letter = |class| match class {
        Class::Plain => "",
        Class::Keyword => "k",
        Class::String => "s",
        Class::Comment => "c",
        Class::Number => "n",
    };
    let line = |pieces: Vec<Piece<'_>>| {
        let marked = pieces.iter().filter(|piece| piece.class != Class::Plain);
        marked.map(|piece| format!("{}:{}", letter(piece.class), piece.text)).collect::<Vec<_>>()
    };
    lines(path, text).into_iter().map(|pieces| line(pieces).join(" ")).collect()
}

#[test]
fn keywords_strings_comments_and_numbers_have_their_class() {
    let rust = "let x = \"a // b\"; // c\nx.match(1_000, 2.5) /* two\nlines */ fn r#type";
    let wanted = ["k:let s:\"a // b\" c:// c", "n:1_000 n:2.5 c:/* two", "c:lines */ k:fn k:type"];
    assert_eq!(told("src/a.rs", rust), wanted);
    let python = "def f(x):\n    \"\"\"Says\n    hello.\"\"\"\n    return x  # 'x'";
    let wanted = ["k:def", "s:\"\"\"Says", "s:    hello.\"\"\"", "k:return c:# 'x'"];
    assert_eq!(told("a.py", python), wanted);
    assert_eq!(told("a.ts", "const a: string = `b ${c}`"), ["k:const k:string s:`b ${c}`"]);
    assert_eq!(told("a.go", "func f() { return nil }"), ["k:func k:return k:nil"]);
    assert_eq!(told("run.sh", "if [ \"$a\" ]; then # x"), ["k:if s:\"$a\" k:then c:# x"]);
}

#[test]
fn formats_have_their_own_comments_and_strings() {
    assert_eq!(told("a.json", "{\"a\": [1, true]}"), ["s:\"a\" n:1 k:true"]);
    assert_eq!(
        told("a.toml", "a = '#' # b\nc = \"\"\"x\ny\"\"\""),
        ["s:'#' c:# b", "s:\"\"\"x", "s:y\"\"\""]
    );
    assert_eq!(told("a.yml", "it: don't # b\nc: 'd'"), ["c:# b", "s:'d'"]);
    assert_eq!(
        told("a.sql", "SELECT a FROM b -- c\nwhere d = 'e'"),
        ["k:SELECT k:FROM c:-- c", "k:where s:'e'"]
    );
    assert_eq!(told("Makefile", "all: # x"), ["c:# x"]);
    assert_eq!(told("a.txt", "let 1 \"a\""), [""]);
}

#[test]
fn a_part_that_begins_in_a_block_comment_is_one_up_to_its_end() {
    let text = " * is that\n */\nlet x = 1;";
    assert_eq!(told("a.rs", text), ["c: * is that", "c: */", "k:let n:1"]);
    assert_eq!(told("a.js", "every('*/5 * *')\nlet x"), ["s:'*/5 * *'", "k:let"], "no comment");
}

#[test]
fn the_pieces_of_a_line_are_the_line() {
    let texts = [
        "",
        "\n",
        "ä = 'ö' # ü\n\"",
        "\\\"\\\"\\",
        "/*",
        "'''",
        "`${",
        "<<EOF\nx",
        "r#\"",
        "b'\\",
        "1.",
        "\u{202e}let\u{2066}",
        "\"$(\"$(\"",
    ];
    let paths = ["a.rs", "a.py", "a.js", "a.sh", "a.go", "a.toml", "a.yml", "a.sql", "a.html", "x"];
    for path in paths {
        for text in texts {
            let lines = lines(path, text);
            let joined: Vec<String> = lines
                .iter()
                .map(|pieces| pieces.iter().map(|piece| piece.text).collect())
                .collect();
            assert_eq!(joined.join("\n"), text, "{path}");
        }
    }
}

/// Each of these takes minutes, or the whole stack, if it is read carelessly.
#[test]
fn hostile_texts_end_quickly() {
    let texts = [
        "\\\"\n".repeat(80_000),
        "\"$(".repeat(80_000),
        ["(/[".repeat(600), "\n".to_owned()].concat().repeat(120),
        "/* ".repeat(80_000),
        "<<A\n".repeat(60_000),
    ];
    for text in &texts {
        for path in ["a.c", "a.sh", "a.js", "a.rs"] {
            let text = text.get(..text.len().min(LONGEST_TEXT)).unwrap_or(text);
            assert!(!lines(path, text).is_empty());
        }
    }
}
