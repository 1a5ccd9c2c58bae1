//! Hands bytes to everything that reads bytes that we did not write: one function a target.
//! Each must return, whatever the bytes are; what it finds wrong with them is no failure. The
//! same functions are run by the test of this crate, on mutations of a small corpus, and by
//! cargo-fuzz for hours (`cargo xtask soak fuzz`).

mod answers;
mod frames;
mod mutate;
mod readers;
mod workers;

pub use answers::played;
pub use frames::frames_of;
pub use mutate::Mutator;

/// A reader of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also that of its folder of the corpus.
    pub name: &'static str,
    /// Hands it bytes.
    pub run: fn(&[u8]),
    /// Number of mutations that the test tries.
    pub tries: u32,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("answers", answers::answers, 4_000),
    target("frames", frames::frames, 20_000),
    target("records", readers::records, 3_000),
    target("packed_records", readers::packed_records, 3_000),
    target("exports", readers::exports, 400),
    target("definitions", readers::definitions, 4_000),
    target("setups", readers::setups, 20_000),
    target("openings", readers::openings, 40_000),
    target("specs", readers::specs, 40_000),
    target("addresses", readers::addresses, 100_000),
    target("messages", workers::messages, 40_000),
    target("archives", workers::archives, 2_000),
    target("uploads", readers::uploads, 4_000),
];

/// Hands bytes to the target of this name.
///
/// # Panics
///
/// There is no such target; or the target does not stand these bytes.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of this name").run)(data);
}

const fn target(name: &'static str, run: fn(&[u8]), tries: u32) -> Target {
    Target { name, run, tries }
}
