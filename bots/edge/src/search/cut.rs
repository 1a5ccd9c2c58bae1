//! Multi-ProbCut (M. Buro, "Experiments with Multi-ProbCut and a new high-quality evaluation
//! function for Othello", 1997): a shallow search that is far outside the bounds stands in for
//! the deep one. How far is enough is a number of standard deviations of the difference
//! between the two, from `edge-train errors`.

use std::sync::LazyLock;

use super::ThreadSearch;
use crate::{
    cpu::Cpu,
    eval::{BEST_GUESS, FeaturedBoard},
};

/// The level of selectivity that cuts nothing.
pub(crate) const EXACT: u8 = 5;
/// Number of standard deviations that are enough, by level of selectivity: with normal errors a cut
/// is right in 73, 87, 95, 99 and 99.9 % of cases.
const DEVIATIONS: [f32; EXACT as usize] = [1.1, 1.5, 2.0, 2.6, 3.3];
/// Searches shallower than this are not cut.
const LEAST_DEPTH: u32 = 3;
/// Number of shallow searches within one another that may decide about cuts.
const NESTED: u32 = 2;

/// The depth of the shallow search of Multi-ProbCut for a deep one, in plies.
#[must_use]
pub const fn probe_depth(depth: u32) -> u32 {
    2 * (depth / 4) + (depth & 1)
}

/// Standard deviations in discs by the number of empty squares and the depth: of the
/// evaluation, and of a search to the probe depth.
static ERRORS: LazyLock<Vec<[f32; 2]>> = LazyLock::new(|| {
    let mut errors = Vec::with_capacity(64 * 64);
    for empties in 0..64 {
        for depth in 0..64 {
            errors.push([0, probe_depth(depth)].map(|probe| error(empties, depth, probe)));
        }
    }
    errors
});

/// Computes the errors.
pub(super) fn prepare() {
    LazyLock::force(&ERRORS);
}

/// The standard deviation in discs of the difference between searches to these depths.
fn error(empties: u32, depth: u32, probe: u32) -> f32 {
    let [constant, by_empties, by_depth, by_probe, to_the_end] = FIT;
    let to_the_end = if depth >= empties { to_the_end } else { 0.0 };
    let log = constant
        + by_empties * empties as f32
        + by_depth * (depth as f32).ln_1p()
        + by_probe * (probe as f32).ln_1p()
        + to_the_end;
    log.exp()
}

/// The logarithm of the error: a constant, factors of the number of empty squares and of the
/// logarithms of one more than either depth, and what is added where the deep search is to the
/// end of the game.
const FIT: [f32; 5] = [1.5156, -0.0194, 0.3307, -0.3259, -0.0860];

impl<C: Cpu> ThreadSearch<'_, C> {
    /// A value that the deep search would most likely not be on the other side of alpha from.
    #[inline(always)]
    pub(super) fn probe(
        &mut self,
        position: &FeaturedBoard,
        alpha: i32,
        depth: u32,
    ) -> Option<i32> {
        if self.selectivity >= EXACT || depth < LEAST_DEPTH || self.cuts >= NESTED {
            return None;
        }
        self.probe_both(position, alpha, depth)
    }

    fn probe_both(&mut self, position: &FeaturedBoard, alpha: i32, depth: u32) -> Option<i32> {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                let deviations = DEVIATIONS[usize::from(self.selectivity)];
                let empties = position.board.empties();
                let [guess_error, probe_error] = ERRORS[(empties << 6 | depth) as usize & 4095];
                let margin = (deviations * probe_error + 0.5) as i32;
                // Whether the shallow search is worth its time: the evaluation may be wrong by
                // half of what it is wrong by as often.
                let doubt = (deviations * 0.5 * (guess_error + probe_error) + 0.5) as i32;
                let guess = position.value(cpu, self.weights);
                let probe = probe_depth(depth);

                let beta = alpha + 1;
                let bound = beta + margin;
                if bound <= BEST_GUESS && guess >= bound - doubt {
                    self.cuts += 1;
                    let value = self.null_window(position, bound - 1, probe);
                    self.cuts -= 1;
                    if value >= bound && !self.stopped {
                        return Some(beta);
                    }
                }
                let bound = alpha - margin;
                if bound >= -BEST_GUESS && guess <= bound + doubt {
                    self.cuts += 1;
                    let value = self.null_window(position, bound, probe);
                    self.cuts -= 1;
                    if value <= bound && !self.stopped {
                        return Some(alpha);
                    }
                }
                None
            },
        )
    }
}
