import sys

import cv2

image = cv2.imread("photo.png")
print(image.shape, sys.argv)
