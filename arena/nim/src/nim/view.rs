//! A seat's calls folded into what it knows. Each question holds everything.

use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use super::{
    rules::{Nim, Public, Question, Take},
    wire::proto::{self, nim_call::Call},
};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The seat that knows it.
    pub seat: Seat,
    /// The seat's knowledge of the public part.
    pub public: Public,
}

impl Sight for Nim {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let beginning = decode(start)?.beginning;
        let beginning =
            beginning.ok_or_else(|| Malformed("the start has no beginning".to_owned()))?;
        Ok(View {
            seat,
            public: Public {
                heaps: heaps(&beginning)?,
                turn: Seat::new(0),
                gone: [false; 2],
            },
        })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        let Some(Call::RequestTake(ask)) = decode(call)?.call else {
            return Ok(None);
        };
        view.public.heaps = heaps(&ask)?;
        view.public.turn = view.seat;
        Ok(Some(Question::Take))
    }

    fn answered(view: &mut View, Question::Take: Question, take: &Take) {
        view.public.play(*take);
    }

    fn known(view: &View) -> (Public, ()) {
        (view.public.clone(), ())
    }
}

fn decode(call: &[u8]) -> Result<proto::NimCall, Malformed> {
    proto::NimCall::decode(call).map_err(|error| Malformed(error.to_string()))
}

fn heaps(heaps: &proto::Heaps) -> Result<Vec<u8>, Malformed> {
    let heaps = heaps.objects.iter().map(|&objects| {
        let digit = u8::try_from(objects).ok().filter(|&objects| objects <= 9);
        digit.ok_or_else(|| Malformed(format!("expected 0 to 9 objects, found {objects}")))
    });
    heaps.collect()
}
