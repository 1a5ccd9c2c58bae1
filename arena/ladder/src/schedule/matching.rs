//! A matching of maximum weight in a general graph, by Edmonds' blossom algorithm with
//! dual variables, in time O(vertices³) (Edmonds 1965; Galil, "Efficient Algorithms for
//! Finding Maximum Matching in Graphs", 1986).

use std::collections::VecDeque;

/// No vertex. Vertices have the numbers from 1, blossoms those after them.
const NONE: usize = 0;

/// The partner of each vertex, from 0, in a matching with the maximum sum of weights. Every
/// pair is an edge; weights are above 0.
pub(super) fn heaviest(many: usize, weight: impl Fn(usize, usize) -> i128) -> Vec<Option<usize>> {
    let mut search = MatchingSearch::new(many, weight);
    while search.grow() {}
    let partner = search.partner[1..=many].iter();
    partner.map(|&partner| partner.checked_sub(1)).collect()
}

/// The position of a blossom in the trees of alternating paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Free,
    /// At an even distance from its root.
    Outer,
    /// At an odd one.
    Inner,
}

/// A vertex counts as a blossom of one.
struct MatchingSearch {
    vertices: usize,
    /// The largest number of a vertex or a blossom.
    last: usize,
    weight: Vec<Vec<i128>>,
    /// For each pair of blossoms the edge between their vertices with the least slack.
    edge: Vec<Vec<(usize, usize)>>,
    /// Twice the dual variables.
    dual: Vec<i128>,
    /// The partner of each vertex or blossom.
    partner: Vec<usize>,
    /// The outermost blossom that contains each; none for a blossom that does not exist any
    /// more.
    top: Vec<usize>,
    label: Vec<Label>,
    /// The vertex through which an inner blossom was reached.
    parent: Vec<usize>,
    /// The outer vertex whose edge to this blossom has the least slack.
    nearest: Vec<usize>,
    /// The blossoms on the cycle of each blossom, its base first.
    around: Vec<Vec<usize>>,
    /// For each blossom, the blossom on its cycle that contains a vertex.
    within: Vec<Vec<usize>>,
    visited: Vec<usize>,
    visits: usize,
    queue: VecDeque<usize>,
}

impl MatchingSearch {
    fn new(vertices: usize, weight: impl Fn(usize, usize) -> i128) -> Self {
        let size = vertices + vertices / 2 + 2;
        let mut weights = vec![vec![0; vertices + 1]; vertices + 1];
        let mut edge = vec![vec![(NONE, NONE); size]; size];
        let mut within = vec![vec![NONE; vertices + 1]; size];
        for a in 1..=vertices {
            within[a][a] = a;
            for b in a + 1..=vertices {
                weights[a][b] = weight(a - 1, b - 1);
                weights[b][a] = weights[a][b];
                edge[a][b] = (a, b);
                edge[b][a] = (b, a);
            }
        }
        let most = weights.iter().flatten().copied().max().unwrap_or(0);
        Self {
            vertices,
            last: vertices,
            weight: weights,
            edge,
            dual: vec![most; size],
            partner: vec![NONE; size],
            top: (0..size)
                .map(|x| if x <= vertices { x } else { NONE })
                .collect(),
            label: vec![Label::Free; size],
            parent: vec![NONE; size],
            nearest: vec![NONE; size],
            around: vec![Vec::new(); size],
            within,
            visited: vec![0; size],
            visits: 0,
            queue: VecDeque::new(),
        }
    }

    /// Twice the slack of an edge.
    fn slack(&self, (a, b): (usize, usize)) -> i128 {
        self.dual[a] + self.dual[b] - 2 * self.weight[a][b]
    }

    fn is_top(&self, x: usize) -> bool {
        self.top[x] == x
    }

    fn approach(&mut self, from: usize, x: usize) {
        let old = self.nearest[x];
        if old == NONE || self.slack(self.edge[from][x]) < self.slack(self.edge[old][x]) {
            self.nearest[x] = from;
        }
    }

    fn find_nearest(&mut self, x: usize) {
        self.nearest[x] = NONE;
        for from in 1..=self.vertices {
            let top = self.top[from];
            if self.edge[from][x] != (NONE, NONE) && top != x && self.label[top] == Label::Outer {
                self.approach(from, x);
            }
        }
    }

    fn enqueue(&mut self, x: usize) {
        if x <= self.vertices {
            self.queue.push_back(x);
        } else {
            for part in self.around[x].clone() {
                self.enqueue(part);
            }
        }
    }

    fn set_top(&mut self, x: usize, top: usize) {
        self.top[x] = top;
        if x > self.vertices {
            for part in self.around[x].clone() {
                self.set_top(part, top);
            }
        }
    }

    /// The distance of a blossom on the cycle from the base, in the direction in which it
    /// is even.
    fn even_way(&mut self, blossom: usize, part: usize) -> usize {
        let around = &mut self.around[blossom];
        let at = around.iter().position(|&one| one == part).unwrap_or(0);
        if at % 2 == 0 {
            return at;
        }
        around[1..].reverse();
        around.len() - at
    }

    /// Pairs two blossoms along the edge between them, and rotates the first one so that
    /// its base is the end of the edge.
    fn pair(&mut self, x: usize, other: usize) {
        let (here, there) = self.edge[x][other];
        self.partner[x] = there;
        if x <= self.vertices {
            return;
        }
        let base = self.within[x][here];
        let way = self.even_way(x, base);
        for at in 0..way {
            let (part, next) = (self.around[x][at], self.around[x][at ^ 1]);
            self.pair(part, next);
        }
        self.pair(base, other);
        self.around[x].rotate_left(way);
    }

    /// Pairs `x` with `other`, and exchanges partners on the path to the root.
    fn augment(&mut self, mut x: usize, mut other: usize) {
        loop {
            let left = self.top[self.partner[x]];
            self.pair(x, other);
            if left == NONE {
                return;
            }
            let parent = self.top[self.parent[left]];
            self.pair(left, parent);
            (x, other) = (parent, left);
        }
    }

    /// The blossom at which the paths to the roots meet, if they do.
    fn meeting(&mut self, mut a: usize, mut b: usize) -> Option<usize> {
        self.visits += 1;
        while a != NONE || b != NONE {
            if a != NONE {
                if self.visited[a] == self.visits {
                    return Some(a);
                }
                self.visited[a] = self.visits;
                a = self.top[self.partner[a]];
                if a != NONE {
                    a = self.top[self.parent[a]];
                }
            }
            std::mem::swap(&mut a, &mut b);
        }
        None
    }

    /// The path from an outer blossom to the base of a new one.
    fn way_to(&mut self, mut x: usize, base: usize) -> Vec<usize> {
        let mut way = Vec::new();
        while x != base {
            let inner = self.top[self.partner[x]];
            way.extend([x, inner]);
            self.enqueue(inner);
            x = self.top[self.parent[inner]];
        }
        way
    }

    fn add_blossom(&mut self, a: usize, base: usize, b: usize) {
        let unused = (self.vertices + 1..=self.last).find(|&x| self.top[x] == NONE);
        let new = unused.unwrap_or(self.last + 1);
        self.last = self.last.max(new);
        self.dual[new] = 0;
        self.label[new] = Label::Outer;
        self.partner[new] = self.partner[base];
        self.parent[new] = self.parent[base];
        let mut around = vec![base];
        around.extend(self.way_to(a, base).into_iter().rev());
        around.extend(self.way_to(b, base));
        self.around[new].clone_from(&around);
        self.set_top(new, new);
        for x in 1..=self.last {
            self.edge[new][x] = (NONE, NONE);
            self.edge[x][new] = (NONE, NONE);
        }
        self.within[new].fill(NONE);
        for part in around {
            for x in 1..=self.last {
                let (old, edge) = (self.edge[new][x], self.edge[part][x]);
                if edge != (NONE, NONE)
                    && (old == (NONE, NONE) || self.slack(edge) < self.slack(old))
                {
                    self.edge[new][x] = edge;
                    self.edge[x][new] = (edge.1, edge.0);
                }
            }
            for x in 1..=self.vertices {
                if self.within[part][x] != NONE {
                    self.within[new][x] = part;
                }
            }
        }
        self.find_nearest(new);
    }

    fn expand(&mut self, blossom: usize) {
        for part in self.around[blossom].clone() {
            self.set_top(part, part);
        }
        let (entry, _) = self.edge[blossom][self.parent[blossom]];
        let entry = self.within[blossom][entry];
        let way = self.even_way(blossom, entry);
        let around = self.around[blossom].clone();
        for pair in around[..way].chunks_exact(2) {
            let (inner, outer) = (pair[0], pair[1]);
            (self.parent[inner], _) = self.edge[outer][inner];
            self.label[inner] = Label::Inner;
            self.label[outer] = Label::Outer;
            self.nearest[inner] = NONE;
            self.find_nearest(outer);
            self.enqueue(outer);
        }
        self.label[entry] = Label::Inner;
        self.parent[entry] = self.parent[blossom];
        for &part in &around[way + 1..] {
            self.label[part] = Label::Free;
            self.find_nearest(part);
        }
        self.top[blossom] = NONE;
    }

    /// Follows a tight edge from an outer vertex. Returns whether the matching has grown.
    fn follow(&mut self, (from, to): (usize, usize)) -> bool {
        let (a, b) = (self.top[from], self.top[to]);
        match self.label[b] {
            Label::Free => {
                self.parent[b] = from;
                self.label[b] = Label::Inner;
                let next = self.top[self.partner[b]];
                self.nearest[b] = NONE;
                self.nearest[next] = NONE;
                self.label[next] = Label::Outer;
                self.enqueue(next);
            }
            Label::Outer => match self.meeting(a, b) {
                Some(base) => self.add_blossom(a, base, b),
                None => {
                    self.augment(a, b);
                    self.augment(b, a);
                    return true;
                }
            },
            Label::Inner => {}
        }
        false
    }

    /// Adds a pair. Returns false if that would not add weight.
    fn grow(&mut self) -> bool {
        self.label.fill(Label::Free);
        self.nearest.fill(NONE);
        self.queue.clear();
        for x in 1..=self.last {
            if self.is_top(x) && self.partner[x] == NONE {
                self.parent[x] = NONE;
                self.label[x] = Label::Outer;
                self.enqueue(x);
            }
        }
        if self.queue.is_empty() {
            return false;
        }
        loop {
            while let Some(from) = self.queue.pop_front() {
                if self.label[self.top[from]] == Label::Inner {
                    continue;
                }
                for to in 1..=self.vertices {
                    if self.top[from] == self.top[to] {
                        continue;
                    }
                    if self.slack((from, to)) > 0 {
                        self.approach(from, self.top[to]);
                    } else if self.follow((from, to)) {
                        return true;
                    }
                }
            }
            if !self.change_duals() {
                return false;
            }
            for x in 1..=self.last {
                let from = self.nearest[x];
                if self.is_top(x)
                    && from != NONE
                    && self.top[from] != x
                    && self.slack(self.edge[from][x]) == 0
                    && self.follow(self.edge[from][x])
                {
                    return true;
                }
            }
            for x in self.vertices + 1..=self.last {
                if self.is_top(x) && self.label[x] == Label::Inner && self.dual[x] == 0 {
                    self.expand(x);
                }
            }
        }
    }

    /// Changes the dual variables until another edge is tight or a blossom can be expanded.
    /// Returns false if the dual variable of a single vertex becomes 0 before that.
    fn change_duals(&mut self) -> bool {
        let blossoms = self.vertices + 1..=self.last;
        let expands = (blossoms.clone())
            .filter(|&x| self.is_top(x) && self.label[x] == Label::Inner)
            .map(|x| self.dual[x] / 2);
        let tight = (1..=self.last)
            .filter(|&x| self.is_top(x) && self.nearest[x] != NONE)
            .filter_map(|x| {
                let slack = self.slack(self.edge[self.nearest[x]][x]);
                match self.label[x] {
                    Label::Free => Some(slack),
                    Label::Outer => Some(slack / 2),
                    Label::Inner => None,
                }
            });
        let Some(by) = expands.chain(tight).min() else {
            return false;
        };
        for x in 1..=self.vertices {
            match self.label[self.top[x]] {
                Label::Outer if self.dual[x] <= by => return false,
                Label::Outer => self.dual[x] -= by,
                Label::Inner => self.dual[x] += by,
                Label::Free => {}
            }
        }
        for x in blossoms.filter(|&x| self.is_top(x)).collect::<Vec<_>>() {
            match self.label[x] {
                Label::Outer => self.dual[x] += 2 * by,
                Label::Inner => self.dual[x] -= 2 * by,
                Label::Free => {}
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    /// The most that pairs can weigh, by trying every partner for the first vertex
    /// that is left, each set of vertices once.
    fn most(many: usize, weight: impl Fn(usize, usize) -> i128) -> i128 {
        let mut most = vec![0; 1 << many];
        for left in 1_usize..1 << many {
            let first = left.trailing_zeros() as usize;
            let rest = left & !(1 << first);
            most[left] = (first + 1..many)
                .filter(|second| rest >> second & 1 == 1)
                .map(|second| weight(first, second) + most[rest & !(1 << second)])
                .fold(most[rest], i128::max);
        }
        most[(1 << many) - 1]
    }

    #[test]
    fn no_matching_is_heavier() {
        let mut numbers = ChaCha20Rng::from_seed([9; 32]);
        for case in 0..600 {
            let many = case % 13;
            let most_weight = [2, 3, 10, 1000][case % 4];
            let weights: Vec<i128> = (0..many * many)
                .map(|_| i128::from(1 + numbers.next_u32() % most_weight))
                .collect();
            let weight = |a: usize, b: usize| weights[a.min(b) * many + a.max(b)];
            let partners = heaviest(many, weight);
            let mut sum = 0;
            for (a, partner) in partners.iter().enumerate() {
                let Some(b) = *partner else { continue };
                assert_eq!(partners[b], Some(a));
                sum += if a < b { weight(a, b) } else { 0 };
            }
            assert_eq!(sum, most(many, weight), "{weights:?}");
        }
    }
}
