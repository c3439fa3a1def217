//! Watches a process: its peak memory, and the most processes below it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Figures {
    peak_kb: AtomicU64,
    processes: AtomicUsize,
    over: AtomicBool,
    /// Notified after each look.
    looked: Condvar,
    turn: Mutex<()>,
}

pub(crate) struct Watch {
    figures: Arc<Figures>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn over(pid: u32) -> Self {
        let figures = Arc::new(Figures::default());
        let theirs = Arc::clone(&figures);
        let thread = std::thread::spawn(move || {
            while !theirs.over.load(Ordering::Relaxed) {
                theirs.peak_kb.fetch_max(peak_kb(pid), Ordering::Relaxed);
                theirs.processes.fetch_max(below(pid), Ordering::Relaxed);
                theirs.looked.notify_all();
                std::thread::park_timeout(EVERY);
            }
        });
        Self { figures, thread: Some(thread) }
    }

    /// Waits until this many processes were seen, or time is up.
    pub(crate) fn until(&self, most: Duration, enough: impl Fn(usize) -> bool) {
        let began = Instant::now();
        let mut turn = self.figures.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while !enough(self.figures.processes.load(Ordering::Relaxed)) && began.elapsed() < most {
            let waited = self.figures.looked.wait_timeout(turn, EVERY * 5);
            turn = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The peak megabytes of the process itself, and the most processes below it.
    pub(crate) fn end(mut self) -> (u64, usize) {
        self.figures.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().ok();
        }
        let figures = &self.figures;
        (figures.peak_kb.load(Ordering::Relaxed) / 1024, figures.processes.load(Ordering::Relaxed))
    }
}

fn peak_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// The number of descendants of a process.
fn below(pid: u32) -> usize {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // A program name may contain anything; the format is regular after its last bracket.
        let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        if let Some(parent) = rest.split_whitespace().nth(1).and_then(|word| word.parse().ok()) {
            children.entry(parent).or_default().push(child);
        }
    }
    let mut count = 0;
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        count += below.len();
        open.extend(below);
    }
    count
}
