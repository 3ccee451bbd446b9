//! Consumers of RabbitMQ that reject what they cannot handle: a rejected message is dropped, or comes back at once, where
//! the queue has no dead-letter exchange.

use super::functions::{Code, Place};
use super::words::calls_any;
use crate::model::{Confidence, DeadLetter, Queue};
use crate::rust::ir::{Expr, ExprKind, Lit};
use crate::rust::walk;
use crate::source::Span;

/// Every consumer that rejects, if nothing in the code speaks of a dead-letter exchange.
pub(super) fn find(code: &Code<'_>) -> Vec<Queue> {
    let declares = code.functions.iter().any(|p| calls_any(&p.function.body, &["queue_declare"]));
    let names_exchange = || {
        let bodies = code.functions.iter().map(|p| &p.function.body).chain(code.constants().map(|(_, _, value)| value));
        bodies.flat_map(walk::expressions).any(|e| match &*e.kind {
            ExprKind::Lit(Lit::Str { text, .. }) => text.contains("dead-letter") || text.contains("x-delivery-limit"),
            _ => false,
        })
    };
    // A queue that is declared elsewhere may have one.
    if !declares || names_exchange() {
        return Vec::new();
    }
    code.functions.iter().filter_map(|place| rejecting(*place)).collect()
}

/// A function that acknowledges what it has handled, and rejects the rest.
fn rejecting(place: Place<'_>) -> Option<Queue> {
    let body = &place.function.body;
    if !calls_any(body, &["ack", "basic_ack"]) {
        return None;
    }
    let (span, is_requeued) = walk::expressions(body).find_map(rejection)?;
    Some(Queue {
        id: format!("rust:consumer:{}", place.function.name).into(),
        service: "rabbitmq",
        name: format!("consumer `{}`", place.function.name),
        names: Vec::new(),
        place: span,
        otherwise: match is_requeued {
            true => "is put back, and comes again at once and for ever".to_owned(),
            false => "is rejected, and dropped".to_owned(),
        },
        dead_letter: DeadLetter::None,
        holds_dead_letters: false,
        minor: false,
        retention: None,
        redelivers: None,
        ages_from_first_send: false,
        advice: Some(
            "declare the queue with `x-dead-letter-exchange`, and reject with `requeue: false` after some attempts"
                .to_owned(),
        ),
        confidence: Confidence::Medium,
        dead_letters_of: Vec::new(),
        alarms: Vec::new(),
    })
}

/// A negative acknowledgement, and whether it puts the message back.
fn rejection(e: &Expr) -> Option<(Span, bool)> {
    let ExprKind::Method { name, name_span, args, .. } = &*e.kind else { return None };
    if !matches!(&**name, "nack" | "basic_nack" | "reject" | "basic_reject") {
        return None;
    }
    let is_options = |path: &crate::rust::ir::Path| {
        path.segments.iter().any(|s| matches!(&**s, "BasicNackOptions" | "BasicRejectOptions"))
    };
    let requeues = args.iter().find_map(|arg| match &*arg.kind {
        ExprKind::Struct { path, fields, .. } if is_options(path) => {
            let field = fields.iter().find(|(name, _)| &**name == "requeue").map(|(_, value)| value);
            match field.map(|value| &*value.kind) {
                Some(ExprKind::Lit(Lit::Bool(truth))) => Some(*truth),
                Some(_) => None,
                None => Some(false),
            }
        }
        ExprKind::Call { callee, .. } => match &*callee.kind {
            ExprKind::Path(path) if is_options(path) => Some(false),
            _ => None,
        },
        _ => None,
    })?;
    Some((*name_span, requeues))
}
