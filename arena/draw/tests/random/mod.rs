//! A random game of any kind, moment by moment, for the tests and the example.

use referee_core::{Dice, GameKind, Scene, Seed, TableStep};

/// A table that is asked something, and what may be answered.
pub(crate) struct Moment {
    pub(crate) open: Scene,
    pub(crate) public: Scene,
    pub(crate) legal: Vec<String>,
}

/// A game of random moves.
pub(crate) fn played(kind: &dyn GameKind) -> Vec<Moment> {
    let mut dice = Dice::new(&Seed::new([3; 32]));
    let mut table = kind
        .deal(&serde_json::Value::Null, &Seed::new([3; 32]))
        .expect("the usual set-up");
    let mut moments = Vec::new();
    loop {
        let step = table.step();
        let mut moment = Moment {
            open: table.open_scene(),
            public: table.scene(),
            legal: Vec::new(),
        };
        match step {
            TableStep::Tell(_) => {}
            TableStep::Ask(seats) => {
                for seat in seats {
                    let legal = table.legal(seat);
                    let pick = dice.below(legal.len() as u32) as usize;
                    table.answer(seat, &legal[pick].1).expect("a legal answer");
                    moment.legal.extend(legal.into_iter().map(|(name, _)| name));
                }
                table.resolve();
                moments.push(moment);
            }
            TableStep::Over(_) => {
                moments.push(moment);
                return moments;
            }
        }
    }
}
