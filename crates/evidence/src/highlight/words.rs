//! The keywords of languages, including the names of their basic types and values.

use crate::source::Language;

/// The keywords of a language, separated by blanks.
pub(super) const fn of(language: Language) -> &'static str {
    match language {
        Language::Rust => RUST,
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
        Language::Go => GO,
        Language::Shell => SHELL,
        Language::Java => JAVA,
        Language::Kotlin => KOTLIN,
        Language::CSharp => CSHARP,
        Language::Ruby => RUBY,
        Language::Php => PHP,
        Language::C => C,
    }
}

const RUST: &str = "\
as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i128 i16 i32 \
i64 i8 if impl in isize let loop match mod move mut pub ref return self Self static str struct super trait \
true type u128 u16 u32 u64 u8 union unsafe use usize where while";

const PYTHON: &str = "\
and as assert async await break case class continue def del elif else except False finally for from global \
if import in is lambda match None nonlocal not or pass raise return self True try while with yield";

const JAVASCRIPT: &str = "\
abstract any as async await boolean break case catch class const continue debugger declare default delete do \
else enum export extends false finally for from function get if implements import in instanceof interface \
keyof let namespace never new null number of private protected public readonly return satisfies set static \
string super switch this throw true try type typeof undefined unknown var void while with yield";

const GO: &str = "\
any bool break byte case chan const continue default defer else error fallthrough false float64 for func go \
goto if import int int32 int64 interface map nil package range return rune select string struct switch true \
type uint uint64 var";

const SHELL: &str = "\
break case cd continue declare do done echo elif else esac eval exec exit export false fi for function if in \
local printf read readonly return set shift source test then trap true unset until while";

const JAVA: &str = "\
abstract assert boolean break byte case catch char class const continue def default do double else enum \
extends false final finally float for if implements import instanceof int interface long new null object \
override package private protected public record return sealed short static super switch synchronized this \
throw throws trait true try val var void while yield";

const KOTLIN: &str = "\
abstract as break by catch class companion const continue data do else enum false finally for fun if import \
in init inline interface internal is lateinit null object open override package private protected public \
return sealed super suspend this throw true try val var vararg when where while";

const CSHARP: &str = "\
abstract as async await base bool break byte case catch char class const continue decimal default delegate \
do double else enum event false finally float for foreach get if in int interface internal is long namespace \
new null object out override params private protected public readonly record ref return sealed set static \
string struct switch this throw true try typeof using var virtual void while yield";

const RUBY: &str = "\
alias and begin break case class def do else elsif end ensure false for if in module next nil not or raise \
redo require rescue retry return self super then true undef unless until when while yield";

const PHP: &str = "\
abstract and array as bool break case catch class const continue default do echo else elseif enum extends \
false final finally float fn for foreach function global if implements include instanceof int interface \
match namespace new null or private protected public readonly require return self static string switch this \
throw trait true try use var void while yield";

const C: &str = "\
auto await bool break case catch char class const constexpr continue default define delete do double else \
endif enum extern false float for func goto guard if ifdef ifndef import include inline int let long \
namespace new nil nullptr operator private protected protocol public return self short signed sizeof static \
struct switch template this throw true try typedef typename union unsigned using var virtual void volatile \
while";
