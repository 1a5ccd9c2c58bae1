//! Lines of JSON: every call is a line, and so is every answer.

use adapter_process::Descendants;
use arena_proto::arena::v1::AnswerEnvelope;
use prost::Message as _;
use serde_json::Value as Json;
use tonic::Status;

use crate::{
    AdapterError, LineSpec,
    json::{GameMessages, ShownCall, games},
    program::{LineProgram, quoted},
    seat::{Answer, Call, CallKind, Dialect, LineBot},
};

/// The part of an answer with which a program says that it can't go on.
const ERROR: &str = "error";

pub(crate) async fn serve(spec: LineSpec, descendants: Descendants) -> Result<(), AdapterError> {
    LineBot::serve(spec, descendants, games()).await
}

impl Dialect for GameMessages {
    type Memory = ();
    const SILENT: bool = true;
    const FAREWELL: Option<&'static str> = None;

    async fn hear(
        &self,
        call: &Call,
        program: &mut LineProgram,
        (): &mut (),
    ) -> Result<Option<Answer>, Status> {
        let shown = self.call(&call.bytes);
        let shown = shown.map_err(|error| Status::invalid_argument(error.to_string()))?;
        if shown.name().is_none() {
            // A notice of a later version.
            return Ok(None);
        }
        let told = program.tell(&shown.line()).await;
        if call.kind == CallKind::Over {
            // It may have ended.
            return Ok(None);
        }
        told?;
        let Some(number) = call.question else {
            return Ok(None);
        };
        let line = program.answer(&call.asked).await?;
        let is_start = matches!(call.kind, CallKind::Start(_));
        let message = read(self, &line, &shown, is_start)?;
        let message = self.numbered(message, number).encode_to_vec();
        Ok(Some(match AnswerEnvelope::decode(&*message) {
            Ok(AnswerEnvelope {
                ready: Some(ready), ..
            }) if is_start => Answer::Ready(ready),
            // The referee says what it is.
            _ => Answer::Message(message),
        }))
    }
}

/// The answer in a line.
fn read(
    messages: &GameMessages,
    line: &str,
    call: &ShownCall,
    is_start: bool,
) -> Result<prost_reflect::DynamicMessage, Status> {
    let wrong = |why: &str| {
        let asked = call.name().unwrap_or_default();
        Status::internal(format!("answered {} to \"{asked}\": {why}", quoted(line)))
    };
    let Ok(Json::Object(mut object)) = serde_json::from_str(line) else {
        return Err(wrong(&format!(
            "expected one line with a JSON object, as in {}; print everything else on standard \
             error",
            messages.example(call),
        )));
    };
    if let Some(why) = object.remove(ERROR) {
        let why = why.as_str().map_or_else(|| why.to_string(), str::to_owned);
        return Err(match is_start {
            true => Status::unimplemented(why),
            false => Status::internal(why),
        });
    }
    messages.answer(object).map_err(|why| wrong(&why))
}
