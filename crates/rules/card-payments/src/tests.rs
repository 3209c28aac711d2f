//! Tests of payments by card: what Stripe's SDK signs and sends, books under any order of deliveries,
//! hostile input.

mod books;
mod calls;
mod freezes;
mod nonsense;
mod objects;
mod recharges;
mod refunds;
mod standings;
mod storm;
mod vouchers;
mod webhooks;
mod world;
