"""A variable that holds a mixture: tests tell it one observation after another."""

from windvane.triggers import BelievedChange


class Following:
    """The mixture that has followed all observations told so far; everything else is asked of it."""

    def __init__(self, domain, model):
        self.now, self.opinion = model.surrogate(domain), None

    def __getattr__(self, name):
        return getattr(self.now, name)

    def extend(self, data):
        """All the old data, and one new observation."""
        new = data[-1]
        self.opinion = self.now.weigh(new, self.now.forecast(new.x, new.time))
        self.now = self.now.follow(data, self.opinion)

    def follow(self, data):
        self.now = self.now.follow(data)

    def verdict(self, believed=0.9):
        return BelievedChange(believed).test((), None, 0.0, 1, self.opinion)[0]

    def since_change(self, believed=0.9):
        """The data since the change that is believed in."""
        return self.data.take(self.data.steps >= self.verdict(believed).since)
