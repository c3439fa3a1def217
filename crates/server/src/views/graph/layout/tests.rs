//! Nodes do not overlap, edges point right, and a large plan is laid out quickly.

use std::collections::BTreeMap;

use super::*;

fn assert_apart(layout: &Layout) {
    let mut columns: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (x, y) in &layout.places {
        columns.entry(*x).or_default().push(*y);
        assert!(x + WIDTH <= layout.width && y + HEIGHT <= layout.height, "{x},{y}");
    }
    for ys in columns.values_mut() {
        ys.sort_unstable();
        for pair in ys.windows(2) {
            assert!(pair[1] - pair[0] >= HEIGHT, "{pair:?} overlap");
        }
    }
}

#[test]
fn a_diamond_has_three_layers_and_its_sides_do_not_overlap() {
    let layout = Layout::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    assert_apart(&layout);
    let xs: Vec<u32> = layout.places.iter().map(|(x, _)| *x).collect();
    assert!(xs[0] < xs[1] && xs[1] == xs[2] && xs[2] < xs[3], "{xs:?}");
    let (above, below) = (layout.places[1].1, layout.places[2].1);
    let middle = u32::midpoint(above, below);
    assert_eq!((layout.places[0].1, layout.places[3].1), (middle, middle), "between its sides");
    assert!(layout.paths[0].starts_with('M') && layout.paths[0].contains('C'));
}

#[test]
fn an_edge_over_a_layer_goes_around_what_is_there() {
    let layout = Layout::new(3, &[(0, 1), (1, 2), (0, 2)]);
    assert_apart(&layout);
    let (x, top) = layout.places[1];
    // The edge crosses the layer of the middle node in a straight line, above or below that node.
    let path = &layout.paths[2];
    let straight = path.split('H').next().expect("a line across the layer");
    let at = straight.rsplit(' ').next().and_then(|y| y.parse::<u32>().ok()).expect("a height");
    assert!(path.contains(&format!("H{}", x + WIDTH)), "{path}");
    assert!(at < top || at > top + HEIGHT, "{path} crosses {top}");
}

#[test]
fn few_arrows_cross() {
    // Two chains whose nodes are listed in an order that would make them cross.
    let layout = Layout::new(4, &[(0, 3), (1, 2)]);
    let y = |place: usize| layout.places[place].1;
    assert_eq!(y(0) < y(1), y(3) < y(2));
}

#[test]
fn nothing_a_node_alone_and_a_circle_have_a_picture() {
    assert_eq!(Layout::new(0, &[]).places, []);
    assert_apart(&Layout::new(1, &[]));
    assert_apart(&Layout::new(3, &[(0, 1), (1, 2), (2, 1), (1, 1)]));
}

#[test]
fn three_hundred_tasks_are_laid_out_without_overlap() {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for to in 1..300_usize {
        for step in [1, 7, 40] {
            if let Some(from) = to.checked_sub(step).filter(|from| from % 5 < 3) {
                edges.push((from, to));
            }
        }
    }
    let layout = Layout::new(300, &edges);
    assert_apart(&layout);
    assert_eq!(layout.paths.len(), edges.len());
}
