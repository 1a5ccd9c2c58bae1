//! What every program that starts bots has on its command line: kinds of bots, walls,
//! cores, signals, and the hidden verbs that it starts itself with. The programs are
//! `referee` here and `arena`.

pub mod bots;
mod cache;
mod end;
pub mod files;
mod hidden;
pub mod net;
mod pin;
mod runtime;
pub mod sandbox;
pub mod stop;
pub mod text;
mod work;

pub use cache::CacheArgs;
pub use end::{End, Usage, usage};
pub use hidden::Hidden;
pub use pin::PinArgs;
pub use runtime::{on_runtime, random_bytes};
pub use work::WorkArgs;
