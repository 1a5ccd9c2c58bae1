//! A seat's calls folded into what it knows.

use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use crate::{
    proto::{NimCall, nim_call::Call},
    rules::{Heap, Nim, Question},
};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    seat: Seat,
    heap: Heap,
}

impl Sight for Nim {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let heap = decode(start)?.heap;
        let heap = heap.ok_or_else(|| Malformed("the start has no heap".to_owned()))?;
        let heap = Heap::of(counters(heap.counters)?);
        Ok(View { seat, heap })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        let Some(Call::RequestTake(ask)) = decode(call)?.call else {
            return Ok(None);
        };
        view.heap.left = counters(ask.left)?;
        view.heap.turn = view.seat;
        Ok(Some(Question::Take))
    }

    fn answered(view: &mut View, _: Question, taken: &u8) {
        view.heap.take(view.seat, *taken);
    }

    fn known(view: &View) -> (Heap, ()) {
        (view.heap.clone(), ())
    }
}

fn decode(call: &[u8]) -> Result<NimCall, Malformed> {
    NimCall::decode(call).map_err(|error| Malformed(error.to_string()))
}

fn counters(counters: u32) -> Result<u8, Malformed> {
    u8::try_from(counters).map_err(|error| Malformed(error.to_string()))
}
