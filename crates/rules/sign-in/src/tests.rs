//! Tests of sign-ins: the pitfalls that others fell into, tokens of a real provider, and hostile input.

mod attempts;
mod documents;
mod golden;
mod mail;
mod nonsense;
mod pitfalls;
mod tokens;
mod world;
