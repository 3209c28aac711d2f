//! What the database answers, by subject.

mod access;
mod books;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod media;
mod rpc;
mod usage;
