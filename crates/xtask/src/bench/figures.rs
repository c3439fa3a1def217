//! Measured figures and their targets. How a figure is measured is up to each bench.

use anyhow::bail;

/// A measured figure, and its maximum.
pub(super) struct Figure {
    pub(super) what: &'static str,
    pub(super) value: f64,
    pub(super) most: f64,
    pub(super) unit: &'static str,
}

/// Prints each figure beside its target and fails if one is missed.
pub(super) fn judge(figures: &[Figure]) -> anyhow::Result<()> {
    for figure in figures {
        let Figure { what, value, most, unit } = figure;
        let verdict = if value <= most { "ok" } else { "MISSED" };
        println!("{what:<44} {value:9.2} {unit:<3} target {most:>4} {unit:<3} {verdict}");
    }
    let missed: Vec<&str> = figures
        .iter()
        .filter(|figure| figure.value > figure.most)
        .map(|figure| figure.what)
        .collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_fails_by_name() {
        let figure = |what, value| Figure { what, value, most: 20.0, unit: "ms" };
        assert!(judge(&[figure("start", 20.0)]).is_ok());
        let missed = judge(&[figure("start", 3.0), figure("end", 20.1)]).unwrap_err();
        assert_eq!(missed.to_string(), "missed: end");
    }
}
