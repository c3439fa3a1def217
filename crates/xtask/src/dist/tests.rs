//! The archive of a stub program: its contents, and that it is reproducible.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;

use flate2::read::GzDecoder;

use super::*;

const PROGRAM: &str = "#!/bin/sh
case \"$*\" in
--version) echo 'bosun 1.2.3' ;;
completions*) echo \"for $2\" ;;
*man*) mkdir -p \"$3\" && echo page > \"$3/bosun.1\" && echo page > \"$3/bosun-run.1\" ;;
esac
";

/// Name, mode, owner, time and content of the entries of an archive.
fn entries(archive: &[u8]) -> Vec<(String, String, Vec<u8>)> {
    let mut bytes = Vec::new();
    GzDecoder::new(archive).read_to_end(&mut bytes).expect("gzip");
    let mut found = Vec::new();
    let mut at = 0;
    while bytes[at] != 0 {
        let text = |from: usize, length: usize| {
            let field = &bytes[at + from..at + from + length];
            String::from_utf8_lossy(field).trim_end_matches('\0').to_owned()
        };
        let size = usize::from_str_radix(&text(124, 12), 8).expect("a size");
        let marks = [text(100, 8), text(108, 8), text(116, 8), text(136, 12)].join(" ");
        found.push((text(0, 100), marks, bytes[at + 512..at + 512 + size].to_vec()));
        at += 512 + size.next_multiple_of(512);
    }
    assert_eq!(bytes.len(), at + 1024, "it ends with two empty blocks");
    found
}

#[test]
fn an_archive_has_everything_and_is_the_same_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("program");
    std::fs::write(&binary, PROGRAM).expect("a program");
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let into = folder.path().join("out");
    let archive = pack(&crate::root(), &binary, &into).expect("an archive");
    let first = std::fs::read(&archive).expect("an archive");
    let top = archive.file_name().and_then(|name| name.to_str()).expect("a name");
    let top = top.strip_suffix(".tar.gz").expect("an archive");
    assert!(top.starts_with("bosun-1.2.3-") && top.contains("linux") || !cfg!(target_os = "linux"));
    let found = entries(&first);
    let names: Vec<&str> =
        found.iter().map(|(name, ..)| name.strip_prefix(top).expect("one folder")).collect();
    assert!(names.is_sorted(), "{names:?}");
    for name in
        ["/bosun", "/README.md", "/LICENSE-MIT", "/completions/_bosun", "/man/man1/bosun-run.1"]
    {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for (name, marks, bytes) in &found {
        let program = name.ends_with("/bosun");
        let mode = if program { "0000755" } else { "0000644" };
        assert_eq!(*marks, format!("{mode} 0000000 0000000 00000000000"), "{name}");
        assert!(!program || bytes == PROGRAM.as_bytes());
    }
    assert_eq!(pack(&crate::root(), &binary, &into).expect("again"), archive);
    assert_eq!(std::fs::read(&archive).expect("an archive"), first);
    let sums = std::fs::read_to_string(into.join("SHA256SUMS")).expect("sums");
    let sum: String = Sha256::digest(&first).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sums, format!("{sum}  {top}.tar.gz\n"));
    assert_eq!(std::fs::read_dir(&into).expect("a folder").count(), 2, "nothing else is left");
}
