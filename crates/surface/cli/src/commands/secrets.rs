//! `tollgate secrets`: rotates secrets that the installation generated.

use control::operation::ControlOperation;
use control::reply::ControlReply;
use control::secrets::SecretName;

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::print_line;

pub(crate) async fn run_secrets_command(
    operator: &mut OperationClient<'_>,
    command: args::SecretsCommand,
) -> Result<(), CommandError> {
    let (operation, told) = match command {
        args::SecretsCommand::Rotate { name } => build_rotation(name),
        args::SecretsCommand::ForgetPepper => (
            ControlOperation::ForgetPepper,
            "From the next start on, keys that were not used since the rotation are invalid.",
        ),
    };
    let ControlReply::Done = operator.perform(operation).await? else {
        return Err(unexpected_reply_error());
    };
    print_line(told)
}

fn build_rotation(name: args::SecretName) -> (ControlOperation, &'static str) {
    let (name, told) = match name {
        args::SecretName::Pepper => (
            SecretName::Pepper,
            "Restart the service. Keys go on working, and each is moved to the new pepper when it is \
             used; console sessions end. Once all keys in use were moved, run \
             `tollgate secrets forget-pepper`.",
        ),
        args::SecretName::Tokens => (
            SecretName::Tokens,
            "Restart the service. Tokens issued for wallets to sign are then refused.",
        ),
        args::SecretName::Links => {
            (SecretName::Links, "Restart the service. Existing links to media then stop working.")
        }
        args::SecretName::Console => {
            (SecretName::Console, "Restart the service. All console users must then sign in again.")
        }
        args::SecretName::Nodes => (
            SecretName::Nodes,
            "Restart all nodes. Those with the old secret and those with the new one do not hear each \
             other.",
        ),
    };
    (ControlOperation::RotateSecret { name }, told)
}
