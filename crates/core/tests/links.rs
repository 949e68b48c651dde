//! Links, knobs and presets: what is written can be read, whatever is read is harmless, and every sentence exists.
//!
//! Tests that carry a number prove the pitfall of that number (`docs/pitfalls.md`).

#[path = "links/arbitrary.rs"]
mod arbitrary;
#[path = "links/corpus.rs"]
mod corpus;
#[path = "links/document.rs"]
mod document;
#[path = "links/notices.rs"]
mod notices;
#[path = "links/presets.rs"]
mod presets;
#[path = "links/round_trip.rs"]
mod round_trip;
#[path = "links/rules.rs"]
mod rules;
#[path = "links/seats.rs"]
mod seats;
#[path = "links/texts.rs"]
mod texts;
