//! The service against a double of Stripe, with rows and books in memory.

mod http;
mod kill_switch;
mod payments;
mod ports;
mod storm;
mod world;
