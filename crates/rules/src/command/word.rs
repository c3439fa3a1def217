//! Words, as far as they are known before the command runs: what is certain, what stands for file names, what is
//! guessed from an assignment in the same line, and what nobody knows.

/// One word of a command, in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word(pub Vec<Piece>);

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Certain: these characters, whatever happens.
    Known(String),
    /// Stands for names of files or a home folder; the text as it is written.
    Open(String),
    /// What it will be, if nothing else sets the variable that it comes from.
    Guess(String),
    /// Known only when it runs; the text as it is written, and whether it may become several words.
    Unknown { text: String, splits: bool },
}

impl Word {
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(vec![Piece::Known(text.to_owned())])
    }

    pub(super) fn unknown(text: String) -> Self {
        Self(vec![Piece::Unknown { text, splits: true }])
    }

    /// The word, if all of it is certain.
    #[must_use]
    pub fn known(&self) -> Option<String> {
        let text = |piece: &Piece| match piece {
            Piece::Known(text) => Some(text.clone()),
            _ => None,
        };
        self.0.iter().map(text).collect()
    }

    /// The word as it will most likely be; file patterns as they are written.
    #[must_use]
    pub fn likely(&self) -> Option<String> {
        let text = |piece: &Piece| match piece {
            Piece::Known(text) | Piece::Open(text) | Piece::Guess(text) => Some(text.clone()),
            Piece::Unknown { .. } => None,
        };
        self.0.iter().map(text).collect()
    }

    /// The word with what is unknown as it is written.
    #[must_use]
    pub fn shown(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Known(text)
            | Piece::Open(text)
            | Piece::Guess(text)
            | Piece::Unknown { text, .. } => text.clone(),
        };
        self.0.iter().map(text).collect()
    }

    /// Whether it could turn out to be an option, though it does not look like one.
    pub(super) fn may_be_an_option(&self) -> bool {
        !matches!(self.0.first(), None | Some(Piece::Known(_)))
            || self.0.iter().any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
    }
}

/// What the reader puts a word together from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    Char {
        c: char,
        quoted: bool,
    },
    /// A character that is guessed.
    Guess(char),
    /// Nothing, but what stands beside it is not certain.
    Unsure,
    /// Here the word is split in two, by a guess.
    Break,
    /// Quotes with nothing in them: the word is there, though it may be empty.
    Nothing,
    Unknown {
        text: String,
        splits: bool,
    },
}

impl Atom {
    pub(super) const fn bare(c: char) -> Self {
        Self::Char { c, quoted: false }
    }

    pub(super) const fn quoted(c: char) -> Self {
        Self::Char { c, quoted: true }
    }

    pub(super) fn is_bare(&self, wanted: char) -> bool {
        matches!(self, Self::Char { c, quoted: false } if *c == wanted)
    }
}

/// The words that one run of atoms becomes, after braces were dealt with.
pub(super) fn words(atoms: &[Atom]) -> Vec<Word> {
    let runs = atoms.split(|atom| *atom == Atom::Break).filter(|run| !run.is_empty());
    let is_split = atoms.contains(&Atom::Break);
    let guessed = |mut word: Word| {
        // Where a word begins and ends is a guess too.
        word.0.extend(is_split.then(|| Piece::Guess(String::new())));
        word
    };
    runs.map(word).map(guessed).collect()
}

/// One word, whatever is in it: for assignments and redirections, which are not split.
pub(super) fn word(atoms: &[Atom]) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    let closes = atoms.iter().any(|atom| atom.is_bare(']'));
    for (place, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Char { c, quoted: false }
                if matches!(c, '*' | '?') || (*c == '[' && closes) || (*c == '~' && place == 0) =>
            {
                push(&mut pieces, Piece::Open(c.to_string()));
            }
            Atom::Char { c, .. } => push(&mut pieces, Piece::Known(c.to_string())),
            Atom::Guess(c) => push(&mut pieces, Piece::Guess(c.to_string())),
            Atom::Break => push(&mut pieces, Piece::Guess(" ".to_owned())),
            Atom::Unsure => push(&mut pieces, Piece::Guess(String::new())),
            Atom::Nothing => push(&mut pieces, Piece::Known(String::new())),
            Atom::Unknown { text, splits } => {
                pieces.push(Piece::Unknown { text: text.clone(), splits: *splits });
            }
        }
    }
    Word(pieces)
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), &piece) {
        (Some(Piece::Known(text)), Piece::Known(more))
        | (Some(Piece::Open(text)), Piece::Open(more))
        | (Some(Piece::Guess(text)), Piece::Guess(more)) => text.push_str(more),
        _ => pieces.push(piece),
    }
}
