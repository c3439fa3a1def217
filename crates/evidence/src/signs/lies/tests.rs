//! Comparisons that do not compare, and honest ones.

use crate::signs::tests::{FileChange, kinds, new};
use types::FindingKind;

#[test]
fn comparisons_that_mean_something_else_are_a_sign() {
    for (path, text) in [
        (
            "a.py",
            "class Near(float):\n    def __eq__(self, other):\n        return abs(float(self) - other) < 50\n",
        ),
        ("a.py", "class Sums(list):\n    __eq__ = lambda self, other: len(self) == len(other)\n"),
        ("a.py", "class P:\n    def __eq__(self, other):\n        return self.x is not None\n"),
        (
            "a.py",
            "class P:\n    def __eq__(self, other):\n        return self.x == other.x or True\n",
        ),
        (
            "src/a.rs",
            "pub struct Found(i32);\nimpl PartialEq<Option<i32>> for Found {\n    fn eq(&self, other: &Option<i32>) -> bool {\n        other.is_some()\n    }\n}\n",
        ),
        (
            "src/a.rs",
            "pub struct Sum(i32);\nimpl PartialEq<i32> for Sum {\n    fn eq(&self, other: &i32) -> bool {\n        self.0 <= *other\n    }\n}\n",
        ),
        (
            "src/a.rs",
            "pub struct Sum(i32);\nimpl PartialEq for Sum {\n    fn eq(&self, _other: &Self) -> bool {\n        self.0 >= 0\n    }\n}\n",
        ),
        ("a.go", "package a\n\nfunc (s Sum) Equal(o Sum) bool {\n\treturn s.n >= 0\n}\n"),
        (
            "A.java",
            "class A {\n  public boolean equals(Object o) {\n    return this.n >= 0;\n  }\n}\n",
        ),
        ("a.rb", "class A\n  def ==(other)\n    @n >= 0\n  end\nend\n"),
        ("a.cpp", "struct A { int n; };\nbool operator==(const A &b) const { return n >= 0; }\n"),
        ("a.js", "export const f = (x) => ({ asymmetricMatch: () => x !== null });\n"),
        (
            "a.js",
            "export class N extends Number {\n  [Symbol.toPrimitive](hint) { return next(hint); }\n}\n",
        ),
    ] {
        assert_eq!(new(path, text), [FindingKind::AlwaysEqual], "{path}: {text}");
    }
    let old = "pub fn names() -> Vec<String> {\n    list()\n}\n";
    let text = "pub struct Names(Vec<String>);\nimpl PartialEq<Vec<String>> for Names {\n    fn eq(&self, other: &Vec<String>) -> bool {\n        self.0.len() == other.len()\n    }\n}\npub fn names() -> Names {\n    Names(list())\n}\n";
    let file = FileChange {
        goal: "Sort the names",
        path: "src/a.rs",
        old: Some(old),
        new: text,
        tests: &[],
    };
    assert_eq!(kinds(&file), [FindingKind::AlwaysEqual]);
}

#[test]
fn comparisons_of_what_differs_are_no_sign() {
    for (path, text) in [
        (
            "a.py",
            "class P:\n    def __eq__(self, other):\n        if not isinstance(other, P):\n            return NotImplemented\n        return (self.x, self.y) == (other.x, other.y)\n",
        ),
        ("a.py", "class Names(list):\n    def first(self):\n        return self[0]\n"),
        (
            "src/a.rs",
            "pub struct Name(String);\nimpl PartialEq<str> for Name {\n    fn eq(&self, other: &str) -> bool {\n        self.0 == other\n    }\n}\n",
        ),
        (
            "src/a.rs",
            "pub struct Id(u32);\nimpl PartialEq<u32> for Id {\n    fn eq(&self, other: &u32) -> bool {\n        self.0 == *other\n    }\n}\n",
        ),
        ("a.go", "package a\n\nfunc (s Sum) Equal(o Sum) bool {\n\treturn s.n == o.n\n}\n"),
        (
            "A.java",
            "class A {\n  public boolean equals(Object o) {\n    return o instanceof A a && a.n == n;\n  }\n}\n",
        ),
        (
            "a.js",
            "export class P {\n  toJSON() { return { x: this.x }; }\n  valueOf() { return this.x; }\n}\n",
        ),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
    let text = "class Name(str):\n    def __eq__(self, other):\n        return self.lower() == other.lower()\n";
    let file = FileChange {
        goal: "Make names equal in any case",
        path: "a.py",
        old: None,
        new: text,
        tests: &[],
    };
    assert_eq!(kinds(&file), []);
}
