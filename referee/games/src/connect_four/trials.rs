//! Beginnings that a bot should be able to handle.

use referee_core::Trial;

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "a board of 10 rows and 10 columns",
        setup: r#"{"rows":10,"columns":10}"#,
    },
    Trial {
        name: "the smallest board that is drawn, 9 rows and 9 columns",
        setup: r#"{"rows":9,"columns":9}"#,
    },
    Trial {
        name: "the largest board, 12 rows and 12 columns",
        setup: r#"{"rows":12,"columns":12}"#,
    },
    Trial {
        name: "a tall board, 12 rows and 9 columns",
        setup: r#"{"rows":12,"columns":9}"#,
    },
    Trial {
        name: "a wide board, 9 rows and 12 columns",
        setup: r#"{"rows":9,"columns":12}"#,
    },
    Trial {
        name: "no forbidden cell",
        setup: r#"{"rows":10,"columns":10,"forbidden":"none"}"#,
    },
    Trial {
        name: "the forbidden cell at the top left",
        setup: r#"{"rows":10,"columns":10,"forbidden":{"at":{"x":0,"y":0}}}"#,
    },
    Trial {
        name: "the forbidden cell at the bottom right",
        setup: r#"{"rows":10,"columns":10,"forbidden":{"at":{"x":9,"y":9}}}"#,
    },
    Trial {
        name: "the forbidden cell at the bottom in the middle",
        setup: r#"{"rows":10,"columns":10,"forbidden":{"at":{"x":9,"y":5}}}"#,
    },
    Trial {
        name: "a column that is full but for the forbidden cell on top",
        setup: r#"{"rows":10,"columns":10,"forbidden":{"at":{"x":0,"y":0}},"moves":[0,0,0,0,0,0,0,0,0]}"#,
    },
    Trial {
        name: "stones on the board already",
        setup: r#"{"rows":10,"columns":10,"forbidden":"none","moves":[4,4,5]}"#,
    },
    Trial {
        name: "a board as it is drawn",
        setup: r#"{}"#,
    },
];
