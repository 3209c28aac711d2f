//! The course of a claim, on a chain that does what a test says.

mod course;
mod crash;
mod crashing_store;
mod script;
mod world;
