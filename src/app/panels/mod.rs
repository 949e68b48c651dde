//! The panels around the views. Each reads a [`super::ctx::PageCtx`], changes at most what the desk remembers, and
//! returns [`super::intent::Intent`]s.

mod choice;
pub mod field;
pub mod lesson;
pub mod menu;
pub mod notices;
mod seats;
pub mod setup;
pub mod share;
pub mod stage;
pub mod status;
pub mod toasts;
pub mod top_bar;
pub mod transport;
pub mod views;
