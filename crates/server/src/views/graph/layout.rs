//! Layered layout of an acyclic graph: layers by longest path, an order in each layer with few crossings, and edges
//! routed around nodes. Independent of tasks.

/// The size of a node, and the gaps between layers and between the nodes of one.
pub(super) const WIDTH: u32 = 204;
pub(super) const HEIGHT: u32 = 76;
const LAYER_GAP: u32 = 44;
const NODE_GAP: f64 = 24.0;
/// Height that an edge occupies in a layer that it crosses.
const LANE: f64 = 14.0;
const MARGIN: u32 = 4;
/// Number of passes that order the layers and move their nodes.
const SWEEPS: usize = 8;
/// Maximum number of bends in crossed layers; above it, edges run straight.
const MOST_BENDS: usize = 4_000;

/// Positions of nodes and edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Upper left corner of each node.
    pub(super) places: Vec<(u32, u32)>,
    /// SVG path of each edge.
    pub(super) paths: Vec<String>,
}

/// A node, or the bend of an edge in a layer that it crosses.
struct Dot {
    layer: usize,
    half: f64,
    /// Vertical centre.
    y: f64,
    before: Vec<usize>,
    after: Vec<usize>,
}

impl Layout {
    /// Lays out `count` nodes. An edge that closes a cycle is drawn but does not affect the layers.
    pub(super) fn new(count: usize, edges: &[(usize, usize)]) -> Self {
        let layers = layers(count, edges);
        let half = f64::from(HEIGHT) / 2.0;
        let dot =
            |layer: &usize| Dot { layer: *layer, half, y: 0.0, before: vec![], after: vec![] };
        let mut dots: Vec<Dot> = layers.iter().map(dot).collect();
        let routes = routes(&mut dots, edges);
        let depth = dots.iter().map(|dot| dot.layer + 1).max().unwrap_or(0);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
        for (place, dot) in dots.iter().enumerate() {
            rows[dot.layer].push(place);
        }
        stack(&mut dots, &rows);
        for sweep in 0..SWEEPS {
            put_in_order(&mut dots, &mut rows, sweep % 2 == 0);
        }
        for sweep in 0..SWEEPS {
            pull(&mut dots, &rows, sweep % 2 == 0);
        }
        Self::drawn(&dots, count, depth, &routes)
    }

    fn drawn(dots: &[Dot], count: usize, depth: usize, routes: &[Vec<usize>]) -> Self {
        let top = dots.iter().map(|dot| dot.y - dot.half).fold(f64::INFINITY, f64::min);
        let bottom = dots.iter().map(|dot| dot.y + dot.half).fold(f64::NEG_INFINITY, f64::max);
        let top = if top.is_finite() { top } else { 0.0 };
        let y = |y: f64| whole(y - top) + MARGIN;
        let x = |layer: usize| {
            let layer = u32::try_from(layer).unwrap_or(0);
            layer.saturating_mul(WIDTH + LAYER_GAP).saturating_add(MARGIN)
        };
        let places = dots.iter().take(count).map(|dot| (x(dot.layer), y(dot.y - dot.half)));
        let path = |route: &Vec<usize>| {
            let points: Vec<(u32, u32)> =
                route.iter().map(|place| (x(dots[*place].layer), y(dots[*place].y))).collect();
            curve(&points)
        };
        Self {
            width: x(depth.max(1)).saturating_sub(LAYER_GAP) + MARGIN,
            height: if bottom.is_finite() { y(bottom) + MARGIN } else { 2 * MARGIN },
            places: places.collect(),
            paths: routes.iter().map(path).collect(),
        }
    }
}

/// The layer of each node: the length of the longest path to it.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut left = vec![0_usize; count];
    for (from, to) in edges {
        after[*from].push(*to);
        left[*to] += 1;
    }
    let mut layers = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|place| left[*place] == 0).collect();
    while let Some(place) = ready.pop() {
        for to in &after[place] {
            layers[*to] = layers[*to].max(layers[place] + 1);
            left[*to] -= 1;
            if left[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    layers
}

/// The dots on the route of each edge, from start to end; creates the bends in between.
fn routes(dots: &mut Vec<Dot>, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let span =
        |dots: &[Dot], (from, to): (usize, usize)| dots[to].layer.saturating_sub(dots[from].layer);
    let bends: usize = edges.iter().map(|edge| span(dots, *edge).saturating_sub(1)).sum();
    let mut routes = Vec::with_capacity(edges.len());
    for (from, to) in edges {
        let mut route = vec![*from];
        let between = dots[*from].layer + 1..dots[*to].layer;
        if bends <= MOST_BENDS {
            for layer in between {
                route.push(dots.len());
                let half = LANE / 2.0;
                dots.push(Dot { layer, half, y: 0.0, before: vec![], after: vec![] });
            }
        }
        route.push(*to);
        for pair in route.windows(2) {
            if dots[pair[0]].layer < dots[pair[1]].layer {
                dots[pair[0]].after.push(pair[1]);
                dots[pair[1]].before.push(pair[0]);
            }
        }
        routes.push(route);
    }
    routes
}

/// Stacks the dots of each layer vertically, in order.
fn stack(dots: &mut [Dot], rows: &[Vec<usize>]) {
    for row in rows {
        let mut y = 0.0;
        for place in row {
            let dot = &mut dots[*place];
            dot.y = y + dot.half;
            y += 2.0 * dot.half + NODE_GAP;
        }
    }
}

/// Orders each layer by the mean position of its neighbours in the previous or next layer.
fn put_in_order(dots: &mut [Dot], rows: &mut [Vec<usize>], forward: bool) {
    let turns: Vec<usize> =
        if forward { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
    for turn in turns {
        let mut keyed: Vec<(f64, usize)> = rows[turn]
            .iter()
            .map(|place| (middle(dots, *place, forward).unwrap_or(dots[*place].y), *place))
            .collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        rows[turn] = keyed.into_iter().map(|(_, place)| place).collect();
        stack(dots, std::slice::from_ref(&rows[turn]));
    }
}

/// Moves each dot towards its neighbours, as far as the other dots of its layer allow.
fn pull(dots: &mut [Dot], rows: &[Vec<usize>], forward: bool) {
    let turns: Vec<usize> =
        if forward { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
    for turn in turns {
        let row = &rows[turn];
        let wanted: Vec<f64> = row
            .iter()
            .map(|place| middle(dots, *place, forward).unwrap_or(dots[*place].y))
            .collect();
        // The downward pass only pushes dots down, the upward pass only up; both keep the gaps, and so does their mean.
        let down = spread(dots, row.iter().zip(&wanted).map(|(place, y)| (*place, *y)));
        let up = spread(dots, row.iter().zip(&wanted).rev().map(|(place, y)| (*place, -*y)));
        for ((place, low), high) in row.iter().zip(down).zip(up.into_iter().rev()) {
            dots[*place].y = f64::midpoint(low, -high);
        }
    }
}

/// Places each dot at its wanted position, or as close after it as the previous dot allows.
fn spread(dots: &[Dot], wanted: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
    let mut edge = f64::NEG_INFINITY;
    let mut placed = Vec::new();
    for (place, y) in wanted {
        let half = dots[place].half;
        let y = y.max(edge + half);
        edge = y + half + NODE_GAP;
        placed.push(y);
    }
    placed
}

fn middle(dots: &[Dot], place: usize, forward: bool) -> Option<f64> {
    let near = if forward { &dots[place].before } else { &dots[place].after };
    let count = u32::try_from(near.len()).ok().filter(|count| *count > 0)?;
    Some(near.iter().map(|other| dots[*other].y).sum::<f64>() / f64::from(count))
}

/// A smooth path through points, each the left end of a node, or of a bend as wide as a node.
fn curve(points: &[(u32, u32)]) -> String {
    use std::fmt::Write as _;
    let Some((x, y)) = points.first() else { return String::new() };
    let (mut x, mut y) = (x + WIDTH, *y);
    let mut path = format!("M{x} {y}");
    for (place, (to_x, to_y)) in points.iter().enumerate().skip(1) {
        let bend = to_x.abs_diff(x) / 2;
        let (one, other) = (x.saturating_add(bend), to_x.saturating_sub(bend));
        let _ = write!(path, "C{one} {y} {other} {to_y} {to_x} {to_y}");
        (x, y) = (*to_x, *to_y);
        if place + 1 < points.len() {
            x += WIDTH;
            let _ = write!(path, "H{x}");
        }
    }
    path
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is rounded and not below zero, and the cast saturates"
)]
fn whole(value: f64) -> u32 {
    value.round().max(0.0) as u32
}

#[cfg(test)]
mod tests;
