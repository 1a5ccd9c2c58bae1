//! Beginnings that a bot should be able to handle.

use referee_core::Trial;

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "a deal by chance",
        setup: r#"{}"#,
    },
    Trial {
        name: "a hand of all three suits may win",
        setup: r#"{"missing_suit":"free"}"#,
    },
    Trial {
        name: "the first tile that seat 0 draws wins",
        setup: r#"{"wall":"1112345678999c258b147d3669b127d5c6d352c735b6d1b4c9b8c49d6b8991d9c8b7c5b5c7b6d4c6d1b3d3c37d8b8c3b3d61b9d432b8d4b2d2b6c71b58d7b25d28c5d3c5b6c1d84b8d1c2d9b2c4d6c29b435d7c4b4c7d7c"}"#,
    },
    Trial {
        name: "the first tile that seat 1 draws wins",
        setup: r#"{"wall":"258c147d3669c127d1112345678999b1d5b6d241c724b6d83c9b7c99d5b8692d7c8b5c4b4c6b6d3c4d8c3d2c87d7b6c1b3d5b7c7d32b9c4d3b2d94c6b8c5d36b25d172c4b5c1d7b98d1c3d8b1c5d49c8b435d5c2b3c8d6c"}"#,
    },
    Trial {
        name: "seat 1 wins on any discard",
        setup: r#"{"wall":"122244466688811123456789999b6d231c7b8c3b7d72c2d5c59d5b8992d6c1d5c3b3c7b6d3c7d6c3d2c471d58c4d5b6c9d988c8d9c3d74c7b7c68d5b36d16c5d2c3b4c21d9c8d1c32d1c5d47c1445d493c7d5c"}"#,
    },
];
