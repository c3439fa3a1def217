//! Options of programs in all their forms: short, bundled, long, shortened. Independent of their meaning.

/// Equivalent options by program: the letters and the long name.
const SAME: &[(&str, &str, &str)] = &[
    ("chgrp", "R", "recursive"),
    ("chmod", "R", "recursive"),
    ("chown", "R", "recursive"),
    ("cp", "rR", "recursive"),
    ("cp", "f", "force"),
    ("find", "", "delete"),
    ("git", "f", "force"),
    ("git", "D", "delete"),
    ("mv", "f", "force"),
    ("pip", "U", "upgrade"),
    ("rm", "rR", "recursive"),
    ("rm", "f", "force"),
    ("sed", "i", "in-place"),
    ("sed", "n", "quiet"),
    ("sed", "n", "silent"),
    ("sort", "o", "output"),
    ("tar", "t", "list"),
];

/// Programs with long options of one dash.
const ONE_DASH: [&str; 6] = ["find", "java", "go", "openssl", "ffmpeg", "terraform"];

/// One option, in all its forms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Flag {
    short: String,
    /// With dashes.
    long: Vec<String>,
}

impl Flag {
    /// The options that a word of a pattern names, in alternative forms.
    pub(super) fn parse(program: &str, forms: &[String]) -> Vec<Self> {
        if let [only] = forms
            && !ONE_DASH.contains(&program)
            && bundle(only).count() > 1
        {
            // `-rf` is two options.
            return bundle(only)
                .map(|letter| Self::new(program, &[format!("-{letter}")]))
                .collect();
        }
        vec![Self::new(program, forms)]
    }

    fn new(program: &str, forms: &[String]) -> Self {
        let mut flag = Self::default();
        for form in forms {
            match bundle(form).next() {
                Some(letter) if form.len() == 2 => flag.short.push(letter),
                _ => flag.long.push(form.clone()),
            }
        }
        for (_, short, long) in SAME.iter().filter(|(name, ..)| *name == program) {
            let long = format!("--{long}");
            if flag.long.contains(&long) || short.chars().any(|letter| flag.is_short(letter)) {
                flag.short.push_str(short);
                flag.long.push(long);
            }
        }
        flag
    }

    pub(super) fn is_short(&self, letter: char) -> bool {
        self.short.contains(letter)
    }

    pub(super) fn is_long(&self, option: &str) -> bool {
        self.long.iter().any(|long| long == option)
    }

    pub(super) fn is_number(&self) -> bool {
        self.long.iter().any(|long| long[1..].chars().all(|c| c.is_ascii_digit()))
    }

    /// Whether a word contains this option.
    pub(super) fn is_in(&self, word: &str, loosely: bool) -> bool {
        let option = word.split_once('=').map_or(word, |(option, _)| option);
        let long = |long: &String| {
            long == option
                || loosely
                    && option.len() > 2
                    && option.starts_with("--")
                    && long.starts_with(option)
        };
        self.long.iter().any(long) || bundle(word).any(|letter| self.is_short(letter))
    }
}

/// The letters of `-abc`.
fn bundle(word: &str) -> impl Iterator<Item = char> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let number = letters.chars().all(|c| c.is_ascii_digit());
    letters.chars().take(if number { 0 } else { usize::MAX })
}
