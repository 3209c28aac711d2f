"""Bad weather for the books: power that fails, disks that refuse, clocks that jump."""
