from collections import orderedDict
