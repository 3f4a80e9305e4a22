"""What other programs put around the lines of a log: one small file a kind, undone line by line.

A carrier is a detector (`layer.Detector`): shown a sample of lines, it says on what share of them
it stands and hands out the layer that undoes it. To add one, write it and list it in the
`DETECTORS` of its file.
"""
