//! `tollgate secrets`: rotates secrets that the installation generated.

use control::operation::Operation;
use control::reply::Reply;
use control::secrets::SecretName;

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::print_line;

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: args::Secrets,
) -> Result<(), Failure> {
    let (operation, told) = match command {
        args::Secrets::Rotate { name } => rotation(name),
        args::Secrets::ForgetPepper => (
            Operation::ForgetPepper,
            "From the next start on, keys that were not used since the rotation open nothing.",
        ),
    };
    let Reply::Done = operator.perform(operation).await? else { return Err(unexpected()) };
    print_line(told)
}

fn rotation(name: args::SecretName) -> (Operation, &'static str) {
    let (name, told) = match name {
        args::SecretName::Pepper => (
            SecretName::Pepper,
            "Restart the service. Keys go on working, and each is moved to the new pepper when it is \
             used; console sessions end. Once all keys in use were moved, run \
             `tollgate secrets forget-pepper`.",
        ),
        args::SecretName::Tokens => (
            SecretName::Tokens,
            "Restart the service. Tokens that wallets were given to sign are then refused.",
        ),
        args::SecretName::Links => (
            SecretName::Links,
            "Restart the service. Links to media that were given out open nothing then.",
        ),
        args::SecretName::Console => {
            (SecretName::Console, "Restart the service. Everybody signs in to the console again.")
        }
        args::SecretName::Nodes => (
            SecretName::Nodes,
            "Restart all nodes. Those with the old secret and those with the new one do not hear each \
             other.",
        ),
    };
    (Operation::RotateSecret { name }, told)
}
