//! Production code that writes tests, expected data, or marks beside its own source at run time.

use types::FindingKind;

use super::production::View;
use super::sign::{Change, Sign};
use crate::pattern::pattern;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let tool = pattern!(
        r"(?i)(?:^|/)(?:scripts?|tools?|xtask|bin)/|golden|snapshot|approv|regenerat|update|fixture|codegen|generat|scaffold|template"
    );
    if tool.is_match(view.path) || tool.is_match(change.goal) {
        return Vec::new();
    }
    let writes = pattern!(
        r#"\.write_text\(|\.write_bytes\(|\bopen\([^)\n]*["'][wax]\+?b?["']|\.open\(\s*["'][wax]|\bwriteFile(?:Sync)?\(|\bappendFile(?:Sync)?\(|\bos\.WriteFile\(|\bioutil\.WriteFile\(|\bos\.Create\(|\bFile::create\(|\bfs::write\(|\bfile_put_contents\(|\bFile\.write\(|\bFiles\.write|\.unlink\(|\bunlinkSync\(|\brmSync\(|\bos\.(?:remove|unlink|rename|replace)\(|\bshutil\.(?:copy\w*|move|rmtree)\(|\bcopyFileSync\(|\brenameSync\(|\bos\.Remove\w*\(|\bfs::(?:remove_file|rename|copy)\("#
    );
    let tests = pattern!(
        r#"["'](?:[^"'\n]*/)?(?:tests?|spec|__tests__|testdata|approved|golden|goldens|expected|snapshots|__snapshots__|fixtures)(?:/[^"'\n]*)?["']|["'](?:[^"'\n]*/)?(?:test_\w+\.py|\w+_test\.(?:py|go|rb|rs)|[\w.-]+\.(?:test|spec)\.\w+|[\w.-]+\.(?:snap|golden|approved))["']|["'](?:conftest\.py|pytest\.ini|package\.json|Makefile)["']"#
    );
    let redirect = pattern!(
        r"(?:>|\btee\s+(?:-a\s+)?|\brm\s+(?:-\w+\s+)?|\bsed\s+-i\S*\s[^\n]*|\bcp\s+\S+\s+|\bmv\s+\S+\s+)\s*(?:\S*/)?(?:tests?|spec|approved|golden|expected|snapshots|testdata)/"
    );
    let own = pattern!(
        r"\b__file__\b|\b__dirname\b|\bimport\.meta\.(?:url|dirname|filename)\b|\b__FILE__\b|__pycache__"
    );
    let mut found = view.signs(FindingKind::WritesTests, |line| {
        let near = view.around(line, 4);
        let strays = redirect.is_match(&line.text) && !change.knows(line.text.trim());
        let writes_here = writes.is_match(&line.text);
        strays || writes_here && (tests.is_match(&near) || own.is_match(&near))
    });
    found.extend(left_behind(change, view));
    found
}

/// A file at a fixed path outside the repository that the code reads and does not write.
fn left_behind(change: &Change<'_>, view: &View<'_>) -> Option<Sign> {
    let place = pattern!(r#"["']((?:/var)?/tmp/[\w./-]+|/dev/shm/[\w./-]+)["']"#);
    let reads = pattern!(r"(?i)exists|open\(|read|isfile|is_file|stat\(");
    let line = view.lines.iter().find(|line| {
        let path =
            place.captures(&line.text).and_then(|found| Some(found.get(1)?.as_str().to_owned()));
        path.is_some_and(|path| !change.knows(&path)) && reads.is_match(&line.text)
    })?;
    let writes = pattern!(r#"write|["'][wa]b?["']|create|mkdir|bind|listen"#).is_match(&view.code);
    (!writes).then(|| view.sign(FindingKind::WritesTests, line.at))
}
