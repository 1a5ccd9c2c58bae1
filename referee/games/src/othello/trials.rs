//! Beginnings that a bot should be able to handle.

use referee_core::Trial;

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "the usual beginning",
        setup: r#"{}"#,
    },
    Trial {
        name: "black has had to pass",
        setup: r#"{"moves":"e6f6c4e7e8d8g6f8"}"#,
    },
    Trial {
        name: "one square is left",
        setup: r#"{"moves":"f5d6c4f4c6g5f6b4d3b7g6e7g4c3d8e2a4f8f1a5c2f3c7d7b6d2a6f7e6h3h4b5g2h5e8e3c5e1a8b3g3a7a3f2d1b2h2g7h7h1h6a2a1h8c1c8g1b1g8"}"#,
    },
];
