"""The generator's optimiser: Muon for the weight matrices of the blocks, AdamW for all other parameters."""

import torch

MUON_RATE, ADAM_RATE = 0.014, 8e-4
GRADIENT_NORM_MAX = 1.0


def orthogonalise(matrices):
    """Newton-Schulz iteration: nearest semi-orthogonal matrices, for a stack [count, rows, columns] with rows <= columns."""
    result = matrices.bfloat16()
    result = result / (result.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = result @ result.mT
        result = 3.4445 * result + (-4.7750 * gram + 2.0315 * gram @ gram) @ result
    return result.float()


class Muon:
    """Momentum whose update is orthogonalised; for the blocks' weight matrices.

    `orthogonalise_stack` is `orthogonalise`, compiled or not.
    """

    def __init__(self, blocks, orthogonalise_stack, weight_decay=0.02, momentum=0.95):
        self.orthogonalise_stack = orthogonalise_stack
        # Matrices made of square ones, and those of the feed-forward networks, which are four times as wide or high.
        self.square = [weight for block in blocks for weight in (block.qkv.weight, block.proj.weight)]
        self.oblong = [weight for block in blocks for weight in (block.fc1.weight, block.fc2.weight)]
        self.momenta = {weight: torch.zeros_like(weight) for weight in self.square + self.oblong}
        self.weight_decay, self.momentum = weight_decay, momentum

    @torch.no_grad()
    def step(self, rate):
        """Updates the weights from their gradients."""
        weights = self.square + self.oblong
        gradients = [weight.grad for weight in weights]
        momenta = [self.momenta[weight] for weight in weights]
        torch._foreach_lerp_(momenta, gradients, 1 - self.momentum)
        updates = torch._foreach_lerp(gradients, momenta, self.momentum)
        square_updates, oblong_updates = updates[: len(self.square)], updates[len(self.square) :]
        width = self.square[0].shape[1]
        stack = self.orthogonalise_stack(torch.cat([update.view(-1, width, width) for update in square_updates]))
        directions = []
        start = 0
        for update in square_updates:
            count = update.shape[0] // width
            directions.append(stack[start : start + count].reshape(update.shape))
            start += count
        stack = self.orthogonalise_stack(
            torch.stack([update if is_wide(update) else update.mT for update in oblong_updates])
        )
        for update, direction in zip(oblong_updates, stack, strict=True):
            directions.append((direction if is_wide(update) else direction.mT * 2).contiguous())
        torch._foreach_mul_(weights, 1 - rate * self.weight_decay)
        torch._foreach_add_(weights, directions, alpha=-rate)


def is_wide(matrix):
    """True if a matrix has more columns than rows."""
    return matrix.shape[0] < matrix.shape[1]


class Optimiser:
    """Muon and AdamW with one common factor of their learning rates."""

    def __init__(self, net, orthogonalise_stack, is_fused):
        self.net = net
        self.muon = Muon(net.blocks, orthogonalise_stack)
        muon_ids = {id(weight) for weight in self.muon.momenta}
        self.adam = torch.optim.AdamW(
            [parameter for parameter in net.parameters() if id(parameter) not in muon_ids],
            lr=ADAM_RATE,
            betas=(0.9, 0.98),
            weight_decay=0.01,
            fused=is_fused,
        )

    def update(self, loss, factor):
        """Makes one step at `factor` times the full learning rates."""
        for group in self.adam.param_groups:
            group["lr"] = ADAM_RATE * factor
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), GRADIENT_NORM_MAX)
        self.muon.step(MUON_RATE * factor)
        self.adam.step()
        self.net.zero_grad(set_to_none=True)
