//! Reversal Big Two against a slow reading of its rules page.

mod page;
mod paper;
mod plays;
mod rounds;
