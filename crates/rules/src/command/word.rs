//! Words, as far as they are known before the command runs: certain text, file patterns, values guessed from an
//! assignment in the same line, and unknown pieces.

/// One word of a command, in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word(pub(super) Vec<Piece>);

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Certain: these characters.
    Known(String),
    /// A file pattern or a home folder, as written.
    Open(String),
    /// Its value, if nothing else sets the variable that it comes from.
    Guess(String),
    /// Known only at run time: the text as written, and whether it may become several words.
    Unknown { text: String, splits: bool },
}

impl Word {
    pub(super) fn of(text: &str) -> Self {
        Self(vec![Piece::Known(text.to_owned())])
    }

    pub(super) fn unknown(text: String) -> Self {
        Self(vec![Piece::Unknown { text, splits: true }])
    }

    /// The word, if all of it is certain.
    #[must_use]
    pub fn known(&self) -> Option<String> {
        let certain = |piece: &Piece| matches!(piece, Piece::Known(_));
        self.0.iter().all(certain).then(|| self.shown())
    }

    /// The likely word, with file patterns as written; none if a piece is unknown.
    pub(crate) fn likely(&self) -> Option<String> {
        let unknown = |piece: &Piece| matches!(piece, Piece::Unknown { .. });
        (!self.0.iter().any(unknown)).then(|| self.shown())
    }

    /// The word, with unknown pieces as written.
    pub(crate) fn shown(&self) -> String {
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

/// The elements of a word while it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    Char {
        c: char,
        quoted: bool,
    },
    /// A character that is guessed.
    Guess(char),
    /// Empty; makes its neighbours uncertain.
    Unsure,
    /// A guessed split into two words.
    Break,
    /// Empty quotes: the word exists, though it may be empty.
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

/// The text of atoms, if none of them is quoted or unknown.
pub(super) fn bare_text(atoms: &[Atom]) -> Option<String> {
    let bare = |atom: &Atom| match atom {
        Atom::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    atoms.iter().map(bare).collect()
}

/// The words of one run of atoms, after brace expansion.
pub(super) fn words(atoms: &[Atom]) -> Vec<Word> {
    let runs = atoms.split(|atom| *atom == Atom::Break).filter(|run| !run.is_empty());
    let is_split = atoms.contains(&Atom::Break);
    let guessed = |mut word: Word| {
        // The boundaries of a word are guessed too.
        word.0.extend(is_split.then(|| Piece::Guess(String::new())));
        word
    };
    runs.map(word).map(guessed).collect()
}

/// One word without splitting, for assignments and redirections.
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
