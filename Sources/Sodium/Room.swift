// This room is filled next.
