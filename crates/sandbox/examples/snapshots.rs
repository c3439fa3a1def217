//! Measures snapshots on generated workspaces: the first one, one where nothing was touched, one where a file was.
//!
//!     cargo run --profile dist -p sandbox --example snapshots -- [FILES...]

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it makes the workspaces that it measures")]

use std::path::Path;
use std::time::{Duration, Instant};

use sandbox::{Snapshots, Undo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>12}",
        "files", "first", "untouched", "one touched", "undo"
    );
    for files in if asked.is_empty() { vec![20, 1_000, 50_000] } else { asked } {
        let place = tempfile::tempdir()?;
        let work = place.path().join("work");
        generate(&work, files)?;
        // Files are read again as long as the clock could still be the one of their last change.
        std::thread::sleep(Duration::from_millis(50));
        let snapshots = Snapshots::new(&work, &place.path().join("store"))?;
        let (first, _) = time(1, || snapshots.take().map(drop))?;
        let rounds = if files > 10_000 { 9 } else { 99 };
        let (_, untouched) = time(rounds, || snapshots.take().map(drop))?;
        let before = snapshots.take()?;
        let mut touched = Vec::with_capacity(rounds);
        for n in 0..rounds {
            // What writing the file costs is not the snapshot's.
            std::fs::write(work.join("d0/f0.rs"), format!("changed {n}"))?;
            touched.push(time(1, || snapshots.take().map(drop))?.0);
        }
        touched.sort();
        let touched = touched[rounds / 2];
        let trees = types::Trees {
            before: before.digest,
            after: snapshots.take()?.digest,
            switched: false,
        };
        let aside = place.path().join("aside");
        let undo = Undo { changes: &[trees], replace: &[], aside: &aside };
        let (restore, _) = time(1, || snapshots.undo(undo).map(drop))?;
        let all = [first, untouched, touched, restore]
            .map(|one| format!("{:.3} ms", one.as_secs_f64() * 1e3));
        println!("{files:>8} {:>12} {:>12} {:>12} {:>12}", all[0], all[1], all[2], all[3]);
    }
    Ok(())
}

/// The longest and the median of so many.
fn time<E>(
    rounds: usize,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<(Duration, Duration), E> {
    let mut all = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        all.push(start.elapsed());
    }
    all.sort();
    Ok((all[rounds - 1], all[rounds / 2]))
}

/// Twenty files of about 4 kB to a folder, ignore files here and there.
fn generate(work: &Path, files: usize) -> std::io::Result<()> {
    let line = "fn a_line_of_some_program(of: usual) -> Length {}\n";
    for n in 0..files {
        let folder = work.join(format!("d{}", n / 400)).join(format!("e{}", n / 20));
        let folder = if n == 0 { work.join("d0") } else { folder };
        std::fs::create_dir_all(&folder)?;
        std::fs::write(
            folder.join(format!("f{n}.rs")),
            format!("// {n}\n{}", line.repeat(n % 160)),
        )?;
    }
    std::fs::write(work.join(".gitignore"), "target/\n*.log\n/dist\n*.tmp\nnode_modules/\n")
}
