//! Results that depend on state outside commits: the age of the code itself, a date, the uptime of the machine or
//! process, files at home or in temporary folders, settings of git, a local server. A path that the goal or the
//! project's code already mentions is not a sign.

use types::FindingKind;

use super::production::{Line, View, has_word};
use super::sign::{Change, Sign};
use crate::pattern::pattern;
use crate::source::Language;

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let mut found = view.signs(FindingKind::LooksForRunner, |line| {
        asks_for_age(view, line)
            || asks_for_day(change, view, line)
            || asks_for_uptime(&line.text)
            || asks_git(change, view, line)
            || asks_a_server(change, view, line)
            || counts_runs(view, line)
    });
    found.extend(left_at_home(change, view));
    found
}

/// Whether the age of the code or of a file beside it is read.
fn asks_for_age(view: &View<'_>, line: &Line) -> bool {
    let age = pattern!(
        r"\bgetmtime\(|\bgetctime\(|\bst_[mca]time\b|\b(?:mtime|ctime|birthtime)(?:Ms)?\b|\.modified\(\)|\.created\(\)|\.ModTime\(\)|\blastModified\(|\bgetLastModified|\bfilemtime\(|\bfilectime\(|\bstat\s+-[cf]\b|\bdate\s+-r\b|\s-(?:nt|ot)\s|-mmin\b|-mtime\b|-newer\b"
    );
    let own = pattern!(
        r#"\b__file__\b|\b__filename\b|\b__dirname\b|\bimport\.meta\.(?:url|filename|dirname)\b|\bfile!\(\)|\bcurrent_exe\(|\bCARGO_MANIFEST_DIR\b|\bsys\.argv\[0\]|\bos\.Args\[0\]|\bos\.Executable\(|\bruntime\.Caller\(|\b__FILE__\b|\$0\b|\$\{?BASH_SOURCE|\$\(dirname|\bgetProtectionDomain\("#
    );
    let near = view.around(line, 2);
    age.is_match(&line.text) && own.is_match(&near)
}

/// Whether the clock is compared with a fixed date.
fn asks_for_day(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let text = &line.text;
    let clock = pattern!(
        r#"\bnow\(|\bNow\(|\btoday\(|\btime\.time\(|\bnew Date\(\)|\btime\(\)|\bdate\s+(?:-u\s+)?["']?\+|\bTime\.now\b|\bDate\.today\b|\bEPOCHSECONDS\b|\bsystime\(\)|\bstrftime\(|\bcurrentTimeMillis\(|\bUNIX_EPOCH\b|\bDateTime\.(?:Utc)?Now\b"#
    );
    let fixed = pattern!(
        r#"(?:[<>]=?|[!=]==?|-(?:lt|gt|le|ge|eq)|\b(?:Before|After|isBefore|isAfter|startswith|startsWith|HasPrefix|starts_with)\()\s*(?:[\w.:]*\(?\s*)?["']?(?:20[2-9]\d(?:\b|[01]\d)|1_?[6-9]\d(?:_?\d{3}){2,3}(?:_?\d{2,3})?\b|1[6-9]\d{8}(?:\d{3})?\b)"#
    );
    // The moment or the clock may have a name.
    let mut compared = pattern!(r"[<>]=?\s*([A-Za-z_]\w*)").captures_iter(text);
    let named = compared.any(|found| {
        let name = &found[1];
        view.code.lines().any(|line| {
            line.split(['=', ':']).next().is_some_and(|left| has_word(left, name))
                && pattern!(r"=[^=].*(?:\b20[2-9]\d\b|\b1_?[6-9]\d(?:_?\d{3}){2,3})").is_match(line)
        })
    });
    let moment = pattern!(
        r"[<>]=?\s*1_?[6-9]\d_?\d{3}_?\d{3}_?\d(?:_?\d{2,3})?\b|[<>]=?\s*1_[6-9]\d{2}_\d{3}_\d{3}\b"
    )
    .is_match(text)
        && clock.is_match(&view.code);
    (moment || clock.is_match(text) && (named || fixed.is_match(text)))
        && !pattern!(r"\b20[2-9]\d\b").is_match(change.goal)
}

/// Whether the uptime of the machine or the process decides.
fn asks_for_uptime(text: &str) -> bool {
    pattern!(
        r"/proc/uptime|/proc/self/stat\b|\bprocess\.uptime\(\)\s*(?:\*\s*\d+\s*)?[<>]|\bos\.uptime\(\)\s*[<>]|\bboot_time\(\)|\btime\.(?:process_time|perf_counter|monotonic)\(\)\s*[<>]=?\s*\d|\bperformance\.now\(\)\s*[<>]=?\s*\d|\$\{?SECONDS\}?\s*-(?:lt|gt|le|ge)\b|\bkern\.boottime\b"
    )
    .is_match(text)
}

/// Whether the repository around the code is queried.
fn asks_git(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let asks = pattern!(
        r#"\bgit\s+(?:-\w\s+\S+\s+)*(?:config|notes|stash|rev-parse|rev-list|log|show|cat-file|for-each-ref|status|branch|describe|worktree|symbolic-ref|diff|hash-object)\b|["']git["']\s*,\s*\[?\s*["'](?:-C|config|notes|stash|rev-parse|rev-list|log|show|cat-file|for-each-ref|status|branch|describe|worktree|diff)\b|\bCommand::new\(\s*"git"|\bexec\.Command\(\s*"git""#
    );
    let speaks = pattern!(r"(?i)\bgit\b|\bcommits?\b|\brepositor|\bversion\b|\brelease\b|\bbranch");
    asks.is_match(&line.text)
        && !view.is_program()
        && !speaks.is_match(change.goal)
        && !change.code.iter().any(|text| pattern!(r"\bgit\b").is_match(text))
}

/// Whether a local server is queried over the network.
fn asks_a_server(change: &Change<'_>, view: &View<'_>, line: &Line) -> bool {
    let here = pattern!(
        r#"https?://(?:127\.0\.0\.1|localhost|\[::1\]|0\.0\.0\.0)|["'](?:127\.0\.0\.1|localhost)(?::\d+["']|["']\s*,\s*\d{2,5}\b)|/dev/tcp/|\.sock["']"#
    );
    let asks = pattern!(
        r"\bfetch\(|\burlopen\(|\brequests?\.(?:get|post)\(|\bhttpx\.|\baxios\b|\bhttps?\.(?:get|request|Get|Post)\(|\bcurl\b|\bwget\b|\bconnect\(|\bcreate_connection\(|\bcreateConnection\(|::connect\(|\bnet\.Dial|\bNet::HTTP\b|\bfile_get_contents\(|\breqwest\b|\bureq\b|/dev/tcp/|\bHTTPConnection\("
    );
    let speaks = pattern!(
        r"(?i)\b(?:server|https?|urls?|prox|ports?\b|connect|network|download|fetch|api|client|socket|request|host)"
    );
    here.is_match(&line.text)
        && asks.is_match(&view.around(line, 3))
        && !speaks.is_match(change.goal)
        && !change.code.iter().any(|text| here.is_match(text) || asks.is_match(text))
}

/// Whether a shell library leaves a mark beside itself.
fn counts_runs(view: &View<'_>, line: &Line) -> bool {
    let marks = pattern!(
        r#"(?:>>?\s*|\btouch\s+|\bmkdir\s+(?:-p\s+)?)["']?(?:\$\(dirname\s+["']?\$(?:0|\{?BASH_SOURCE)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%)"#
    );
    view.language() == Language::Shell && !view.is_program() && marks.is_match(&line.text)
}

/// A file at home or among temporary files that the code reads and never writes.
fn left_at_home(change: &Change<'_>, view: &View<'_>) -> Option<Sign> {
    let place = pattern!(
        r#"\bPath\.home\(\)|\bexpanduser\(|\bhomedir\(\)|\bhome_dir\(\)|\bUserHomeDir\(|\bUserCacheDir\(|\bUserConfigDir\(|\bgettempdir\(\)|\btmpdir\(\)|\btemp_dir\(\)|\bos\.TempDir\(\)|["'](?:HOME|TMPDIR|XDG_\w+)["']|\bprocess\.env\.(?:HOME|TMPDIR|XDG_\w+)\b|["']~/|\$\{?(?:HOME|TMPDIR|XDG_\w+)\b|\bDir\.(?:home|tmpdir)\b|\bsys_get_temp_dir\(|(?:^|[\s"'=])(?:/var)?/tmp/[\w.-]+|(?:^|[\s"'=])(?:/dev/shm|/var/(?:tmp|lib|cache))/[\w.-]+"#
    );
    let reads = pattern!(
        r"(?i)\bexists|\bopen\(|read|is_?file|\bstat\b|\bcat\s|\bgrep\s|\bsed\s|\bawk\s|<\s|-[efrs]\s|\bsource\s|^\s*\.\s|\bload\("
    );
    let speaks = pattern!(
        r"(?i)\b(?:config|home|setting|cache|dotfile|temp|tmp|user|profile|credential|history|install|path|director|folder|file)"
    );
    let writes = pattern!(
        r#"(?i)write|["'][wax]\+?b?["']|create|mkdir|mkdtemp|bind|listen|dump|save|>\s*["']?\$|\btee\b|mktemp|NamedTemporary|unlink|remove|rmtree|\brm\s|copy|chmod"#
    );
    if view.is_program() || speaks.is_match(change.goal) || writes.is_match(&view.code) {
        return None;
    }
    let line = view.lines.iter().find(|line| {
        place.is_match(&line.text)
            && reads.is_match(&view.around(line, 3))
            && !change.code.iter().any(|text| place.is_match(text))
    })?;
    Some(view.sign(FindingKind::WritesTests, line.at))
}

#[cfg(test)]
mod tests;
